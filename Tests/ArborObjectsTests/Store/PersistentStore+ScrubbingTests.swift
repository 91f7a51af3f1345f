import ArborLocks
import ArborModel
import Foundation
import TestSupport
import Testing

import ArborObjects

/// Scrubbing through the public API.
@Suite(.timeLimit(.minutes(40))) struct PersistentStoreScrubbingTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path("a.arbor") }

  init() throws {
    try #require(ProgramLog.isSetUp)
    folder = try TemporaryFolder()
    let store = try open()
    defer { store.close() }
    let context = store.makeContext()
    for number in 0..<300 { context.insert(Company.self).name = "company \(number)" }
    for number in 0..<300 {
      let employee = context.insert(Employee.self)
      (employee.employeeID, employee.age) = (Int64(number), number % 70)
    }
    try context.commit()
  }

  private func open(_ change: (inout StoreOptions) -> Void = { _ in }) throws -> PersistentStore {
    var options = StoreOptions()
    options.scrubInterval = nil
    change(&options)
    return try PersistentStore(for: Office.classes, at: .path(path), options: options)
  }

  private func code(_ body: () throws -> Void) -> ArborError.Code? {
    do { try body() } catch { return (error as? ArborError)?.code }
    return nil
  }

  @Test("A scrub reports its progress")
  func itTellsHowFarItIs() throws {
    let store = try open()
    let before = try #require(try store.lastScrub())
    let fractions = Lock<[Double]>([])
    try store.scrub { fraction in fractions.withLock { $0.append(fraction) } }
    let told = fractions.withLock { $0 }
    #expect(told.first == 0 && told.last == 1 && told.count > 10 && told == told.sorted())
    let after = try #require(try store.lastScrub())
    #expect(after > before && after <= Date())
    try store.check()
    store.close()
    #expect(code { try store.scrub() } == .closed)
    #expect(code { _ = try store.lastScrub() } == .closed)
  }

  @Test("In-memory and read-only stores can be scrubbed")
  func otherStores() throws {
    let memory = try PersistentStore(for: Office.classes, at: .inMemory)
    defer { memory.close() }
    try memory.scrub()
    #expect(try memory.lastScrub() != nil)
    let last = try open().lastScrub()
    let reader = try open { $0.isReadOnly = true }
    defer { reader.close() }
    try reader.scrub()
    #expect(try reader.lastScrub() == last)
  }

  @Test("A cancelled scrub keeps its progress, and the next scheduled scrub completes it")
  func aCancelledOneIsGoneOnWith() async throws {
    var store = try open()
    let before = try store.lastScrub()
    let fractions = Lock<[Double]>([])
    let task = _Concurrency.Task { [store] in
      try store.scrub { fraction in
        fractions.withLock { $0.append(fraction) }
        if fraction > 0.5 { withUnsafeCurrentTask { $0?.cancel() } }
        // Longer than the interval between two checks for cancellation.
        Thread.sleep(forTimeInterval: 0.011)
      }
    }
    do {
      try await task.value
      Issue.record("it went on")
    } catch {
      #expect((error as? ArborError)?.code == .cancelled)
    }
    #expect(fractions.withLock { $0.last ?? 0 } < 0.7)
    #expect(try store.lastScrub() == before)
    try store.check()
    store.close()
    store = try open { $0.scrubInterval = .zero }
    defer { store.close() }
    while try store.lastScrub() == before {
      try await _Concurrency.Task.sleep(for: .milliseconds(50))
    }
  }

  @Test("Damage found by a scrub is thrown and logged")
  func damageIsThrownAndLogged() throws {
    var bytes = try Data(contentsOf: URL(filePath: path))
    let name = try #require(bytes.range(of: Data("company 77".utf8), options: .backwards))
    bytes[name.lowerBound] ^= 1
    try bytes.write(to: URL(filePath: path))
    let store = try open()
    defer { store.close() }
    do {
      try store.scrub()
      Issue.record("nothing was found")
    } catch {
      #expect(error.code == .corrupted)
      #expect(ProgramLog.entries("path", path).map(\.message) == ["\(error)"])
    }
    let written = ProgramLog.entries("path", path)
    #expect(written.map(\.label) == ["ArborData.damage"] && written.map(\.level) == ["error"])
    // The store remains readable, but can't be written.
    let context = store.makeContext()
    #expect(try context.count(FetchRequest<Employee>()) == 300)
    context.insert(Company.self).name = "late"
    #expect(code { try context.commit() } == .corrupted)
    #expect(code { try store.scrub() } == .corrupted)
    #expect(code { try store.check() } == .corrupted)
  }
}
