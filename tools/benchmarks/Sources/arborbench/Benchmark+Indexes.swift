import ArborData
import Foundation

extension Benchmark {
  /// Builds indexes of every kind over a store without indexes, each when the store is opened. Not
  /// part of the workload.
  func buildIndexes() throws {
    let indexes: [(name: String, index: FetchIndexDescription)] = [
      ("compound", .init(name: "b1", elements: [.init("age"), .init("salary")])),
      ("folded", .init(name: "b2", elements: [.init("name", kind: .folded)])),
      (
        "partial",
        .init(name: "b3", elements: [.init("salary")], partialIndexPredicate: "age > 40")
      ),
      ("words", .init(name: "b4", elements: [.init("email", kind: .text)])),
    ]
    let plain = try store()
    var model = plain.model
    plain.close()
    guard let employee = model.entities.firstIndex(where: { $0.name == "Employee" }) else {
      throw BenchmarkError("no entity Employee")
    }
    for (name, index) in indexes {
      model.entities[employee].fetchIndexes.append(index)
      try Meter.measure("15_build_\(name)") {
        let store = try PersistentStore(model: model, at: .path(path))
        defer { store.close() }
        return (try store.indexes().first { $0.name == index.name }?.entries ?? -1, 0)
      }
    }
  }
}
