import ArborData
import Foundation

extension Benchmark {
  /// Builds an index over all employees after a migration, in copies of a loaded store. Measures
  /// the build in batches and in one transaction, as in a reversal of a migration, and commits of
  /// one object with and without a concurrent build. Not part of the workload.
  func buildOnline(rounds: Int) throws {
    let copy = path + ".online"
    defer { Self.remove(copy) }
    let loaded = try store()
    let plain = loaded.model
    loaded.close()
    for _ in 0..<max(1, rounds) {
      for (name, columns) in [("number", ["salary", "age"]), ("text", ["name"])] {
        let model = try Self.model(plain, indexing: columns)
        Self.remove(copy)
        try copyStore(to: copy)
        try Meter.measure("18_online_\(name)") {
          let store = try PersistentStore(model: model, at: .path(copy))
          defer { store.close() }
          return (try store.indexes().first { $0.name == "online" }?.entries ?? -1, 0)
        }
        try PersistentStore(model: plain, at: .path(copy)).close()
        try Meter.measure("18_one_transaction_\(name)") {
          try PersistentStore.revertMigration(URL(filePath: copy))
          return (count, 0)
        }
        Self.remove(copy)
        try copyStore(to: copy)
        try commitBeside(copy, plain, "alone_\(name)")
        try commitBeside(copy, model, "beside_\(name)")
      }
    }
  }

  private static func model(
    _ plain: ManagedObjectModel, indexing columns: [String]
  ) throws -> ManagedObjectModel {
    var model = plain
    guard let employee = model.entities.firstIndex(where: { $0.name == "Employee" }) else {
      throw BenchmarkError("no entity Employee")
    }
    model.entities[employee].fetchIndexes.append(
      FetchIndexDescription(name: "online", elements: columns.map { .init($0) }))
    return model
  }

  /// Commits changes of single objects, a millisecond apart, while indexes are built, or otherwise
  /// for two seconds. Prints the durations of the commits.
  private func commitBeside(
    _ path: String, _ model: ManagedObjectModel, _ name: String
  ) throws {
    var options = StoreOptions()
    options.indexBuilds = .inBackground
    let store = try PersistentStore(model: model, at: .path(path), options: options)
    defer { store.close() }
    let context = store.makeContext()
    let keys = Workload.keys(seed: name.hasPrefix("alone") ? 47 : 53, range: count, count: 10_000)
    let isBuilding = try !store.indexBuilds().isEmpty
    var (waits, began) = ([Double](), Meter.time(CLOCK_MONOTONIC))
    let start = began
    while try isBuilding ? !store.indexBuilds().isEmpty : began - start < 2 {
      let employee = try context.object(with: employeeID(keys[waits.count % keys.count], in: store))
      try employee.setValue(.double(Double(50_000 + waits.count)), forKey: "salary")
      began = Meter.time(CLOCK_MONOTONIC)
      try context.commit()
      waits.append(Meter.time(CLOCK_MONOTONIC) - began)
      usleep(1000)
    }
    waits.sort()
    func percentile(_ part: Double) -> String {
      String(format: "%.3f ms", 1000 * waits[min(waits.count - 1, Int(part * Double(waits.count)))])
    }
    Meter.printLine([
      "18_commits_\(name)", String(format: "%.3f s", began - start), "\(waits.count)",
      percentile(0.5), percentile(0.99), percentile(1),
    ])
  }

  private func copyStore(to target: String) throws {
    try FileManager.default.copyItem(atPath: path, toPath: target)
    try FileHandle(forUpdating: URL(filePath: target)).synchronize()
  }

  private static func remove(_ path: String) {
    for suffix in ["", "-lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  }
}
