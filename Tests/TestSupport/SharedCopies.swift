internal import ArborLog
package import ArborModel
package import ArborStore
internal import Foundation
internal import LMDB

/// Copies of one store that share a log, as if on separate machines, and their expected contents.
package final class SharedCopies {
  package let log: SimulatedLog
  /// The engine of each copy; `nil` while it is closed.
  package private(set) var files: [StoreEngine?]
  private let folder: TemporaryFolder
  private let seed: UInt64
  private var random: SeededRandom
  private let employees: [ObjectNumber]

  /// The names of acknowledged insertions, with the numbers of their objects.
  private var acknowledged: [String: ObjectNumber] = [:]
  /// The names in commits whose outcome is unknown, by batch.
  private var unknown: [UUID: String] = [:]
  private var (raises, unknownRaises) = (0, 0)
  private var claims: Set<Int64> = []
  /// Descriptions of the defects found so far.
  package private(set) var problems: [String] = []

  package init(
    _ count: Int, in folder: TemporaryFolder, seed: UInt64, faults: SimulatedLog.Faults,
    defect: SimulatedLog.Defect? = nil
  ) throws {
    self.folder = folder
    self.seed = seed
    random = SeededRandom(seed: seed)
    log = SimulatedLog(seed: seed ^ 1, faults: faults, defect: defect)
    var opening = StoreOpening(.file(folder.path("0.arbor")), model: try OfficeModel.make())
    opening.isDurable = false
    let first = try StoreEngine.open(opening)
    let draft = Draft(first)
    employees = try (0..<4).map {
      try draft.insert("Employee", ["employeeID": .integer(Int64($0)), "age": .integer(0)])
    }
    try draft.commit()
    files = [first] + [StoreEngine?](repeating: nil, count: count - 1)
    let shared = store(0)
    try retrying { try shared.begin(first) }
    for index in 1..<count { try open(index) }
  }

  private func store(_ index: Int) -> SharedStore {
    SharedStore(
      folder.path("\(index).arbor"),
      LogClient(log, firstPause: .zero))
  }

  /// Retries an operation that may fail because of the log's faults.
  private func retrying<R>(_ body: () throws -> R) throws -> R {
    for _ in 0..<200 {
      do { return try body() } catch let error as ArborError where Self.passes(error) {
      } catch StoreError.log(let error) where Self.passes(error) {
      }
    }
    return try body()
  }

  private static func passes(_ error: ArborError) -> Bool { error.code == .logUnavailable }

  private func open(_ index: Int) throws {
    let shared = store(index)
    try retrying {
      // If the log is unreachable, a store opens in its local state. Here it must be current.
      if case .waiting(let reason) = try shared.prepare(for: nil) { throw reason }
    }
    var opening = StoreOpening(.file(shared.path), model: nil)
    opening.isDurable = false
    let file = try StoreEngine.open(opening)
    files[index] = file
    try retrying { try file.share(through: shared.client) }
  }

  package func close() {
    for file in files { file?.close() }
    files = files.map { _ in nil }
  }

  // MARK: Steps

  /// Performs random steps on random copies and compares the results.
  package func run(_ steps: Int) {
    do {
      for step in 0..<steps { try self.step(step) }
      log.isOut = false
      try compare()
    } catch { problems.append("\(error)") }
    close()
  }

  private func step(_ step: Int) throws {
    let index = Int.random(in: 0..<files.count, using: &random)
    guard let file = files[index] else { return }
    switch Int.random(in: 0..<40, using: &random) {
    case 0..<8: _ = try? file.takeOverNews()
    case 8:
      // As after a crash: lost commits are read from the log.
      file.close()
      files[index] = nil
      try open(index)
    case 9: _ = try? store(index).publish(file)
    case 10: try? log.trim(through: file.lastSequence)
    case 11: try restart(index, file)
    default: try commit(file, step)
    }
  }

  /// Sometimes deletes the file and starts over from the log.
  private func restart(_ index: Int, _ file: StoreEngine) throws {
    guard Int.random(in: 0..<4, using: &random) == 0 else { return }
    try file.destroy()
    files[index] = nil
    try open(index)
  }

  /// Commits one change on one copy: a new object, an increment, or a claim of a unique value.
  private func commit(_ file: StoreEngine, _ step: Int) throws {
    let kind = Int.random(in: 0..<3, using: &random)
    let name = "commit \(step)"
    let claim = Int64.random(in: 100..<160, using: &random)
    do {
      let draft = Draft(file)
      var tag: ObjectNumber?
      switch kind {
      case 0: tag = try draft.insert("Tag", ["name": .string(name)])
      case 1:
        let one = employees[Int.random(in: 0..<employees.count, using: &random)]
        try draft.update(one, ["age": .integer(try age(one, file) + 1)])
      default:
        try draft.insert("Employee", ["employeeID": .integer(claim), "age": .integer(0)])
      }
      try draft.commit()
      if let tag { acknowledged[name] = tag }
      if kind == 1 { raises += 1 }
      if kind == 2, !claims.insert(claim).inserted { problems.append("\(claim) is had twice") }
    } catch StoreError.conflict where kind == 1 {
    } catch StoreError.notUnique where kind == 2 {
    } catch StoreError.outcomeUnknown(let batch) {
      if kind == 0 { unknown[batch] = name }
      if kind == 1 { unknownRaises += 1 }
    } catch StoreError.log(let error) where Self.passes(error) || Self.isBehindTrimmed(error) {
    }
  }

  /// Whether a copy needs entries that were trimmed. Reopening it starts from a snapshot.
  private static func isBehindTrimmed(_ error: ArborError) -> Bool {
    error.code == .modelChanged || error.code == .forked
  }

  // MARK: Comparing

  private func compare() throws {
    for index in files.indices {
      files[index]?.close()
      files[index] = nil
      try open(index)
    }
    // Entries still in flight arrive with the first call.
    for file in files { try retrying { _ = try file?.takeOverNews() } }
    guard let first = files[0] else { return }
    let contents = try StoreContents(first)
    for (index, file) in files.enumerated() {
      guard let file else { continue }
      if try StoreContents(file) != contents { problems.append("copy \(index) differs") }
      if try !file.check().isSound { problems.append("copy \(index) is not sound") }
    }
    try compareObjects(first)
  }

  /// Checks that acknowledged changes are applied once, and those of unknown outcome at most once.
  private func compareObjects(_ file: StoreEngine) throws {
    let tags = try tags(file)
    for (name, number) in acknowledged where tags[name] != number {
      problems.append("\(name) is not there")
    }
    if !Set(tags.keys).isSubset(of: Set(unknown.values).union(acknowledged.keys)) {
      problems.append("more is there than was committed")
    }
    if Set(tags.values).count != tags.count { problems.append("a number was given out twice") }
    let sum = try employees.reduce(0) { try $0 + Int(age($1, file)) }
    if !(raises...(raises + unknownRaises)).contains(sum) {
      problems.append("\(sum) raises instead of \(raises) to \(raises + unknownRaises)")
    }
  }

  private func age(_ number: ObjectNumber, _ file: StoreEngine) throws -> Int64 {
    let draft = Draft(file)
    let entity = try draft.entity("Employee")
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    // The allocator owns the record's memory.
    let allocator = SlabAllocator()
    return try withExtendedLifetime(allocator) {
      let record = try snapshot.record(number, allocator: allocator)
      guard case .integer(let age)? = record?.value(try draft.field("age", entity)) else {
        problems.append("an employee is gone")
        return 0
      }
      return age
    }
  }

  /// Returns the numbers of tags by name.
  package func tags(_ file: StoreEngine) throws -> [String: ObjectNumber] {
    let draft = Draft(file)
    let entity = try draft.entity("Tag")
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    var tags: [String: ObjectNumber] = [:]
    let allocator = SlabAllocator(keepsSlabs: true)
    defer { withExtendedLifetime(allocator) {} }
    let cursor = try snapshot.reader.cursor(file.databases.records(entity.index))
    while let entry = try cursor.next() {
      let number = ObjectNumber(rawValue: entry.integerKey)
      let record = try snapshot.record(number, allocator: allocator)
      guard case .string(let name)? = record?.value(try draft.field("name", entity)) else {
        continue
      }
      if tags.updateValue(number, forKey: name) != nil { problems.append("\(name) is there twice") }
    }
    return tags
  }
}
