import ArborData
import Foundation

/// The time that operations continue after their task is cancelled. The limit is 50 ms.
extension Benchmark {
  private static let rounds = 20

  private typealias Work = @Sendable (PersistentStore) throws -> Void

  /// Cancels each operation at different moments, and prints the longest time that it continued:
  /// `op longest_ms cancelled_rounds`.
  func cancel() async throws {
    let store = try store()
    for (name, work) in Self.operations(path) {
      var longest = 0.0
      var cancelled = 0
      for round in 0..<Self.rounds {
        let task = Task.detached(priority: .high) { try work(store) }
        try await Task.sleep(for: .milliseconds(5 + 7 * round))
        let start = Meter.time(CLOCK_MONOTONIC)
        task.cancel()
        do {
          try await task.value
        } catch let error as ArborError where error.code == .cancelled {
          longest = max(longest, Meter.time(CLOCK_MONOTONIC) - start)
          cancelled += 1
        }
      }
      Meter.printLine(["19_\(name)", String(format: "%.3f", longest * 1e3), "\(cancelled)"])
    }
  }

  private static func operations(_ path: String) -> [(String, Work)] {
    func fetching(_ body: @escaping @Sendable (ManagedObjectContext) throws -> Void) -> Work {
      { try body($0.makeContext()) }
    }
    var sorted = FetchRequest<Employee>()
    sorted.sortKeys = ["-email"]
    var groups = FetchRequest<Employee>()
    groups.propertiesToFetch = ["hiredAt", "age", "@count"]
    groups.propertiesToGroupBy = ["hiredAt", "age"]
    let scan: FetchPredicate = "email CONTAINS[cd] 'zzz' OR name MATCHES '.*q.*q.*'"
    let nested: FetchPredicate =
      "SUBQUERY(company.employees, $x, $x.salary > salary AND $x.age < age).@count > 3"
    return [
      ("fetch_sorted", fetching { [sorted] in _ = try $0.fetch(sorted) }),
      ("count_scan", fetching { _ = try $0.count(Employee.self, matching: scan) }),
      ("count_nested", fetching { _ = try $0.count(Employee.self, matching: nested) }),
      ("groups", fetching { [groups] in _ = try $0.fetchRows(groups) }),
      ("export", fetching { _ = try $0.export(FetchRequest<Employee>(), as: .json) }),
      ("check", { _ = try $0.check() }),
      ("import", { _ in try importing(path + ".json") }),
      ("index_build", { _ in try building(path) }),
    ]
  }

  /// Imports a document into an empty store without a commit.
  private static func importing(_ document: String) throws {
    let store = try PersistentStore(for: [Office.self, Staff.self], at: .inMemory)
    defer { store.close() }
    let document = URL(filePath: document)
    _ = try store.makeContext().importObjects(from: .file(document), as: Staff.self)
  }

  /// Opens a copy of the file with four additional indexes, which are built during opening.
  private static func building(_ path: String) throws {
    let copy = path + ".copy-\(UInt32.random(in: 0...(.max)))"
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    defer { for end in ["", "-lock"] { try? FileManager.default.removeItem(atPath: copy + end) } }
    var employee = Employee.entityDescription
    for index in employee.attributes.indices { employee.attributes[index].isIndexed = true }
    let model = ManagedObjectModel(entities: [Company.entityDescription, employee])
    try PersistentStore(model: model, at: .path(copy)).close()
  }
}
