import ArborModel
import ArborStore
import Foundation
import LMDB
import TestLength
import TestSupport
import Testing

/// Copies of one store that all write through one log.
@Suite struct SharedLogTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A store with some employees and its copies.
  private func copies(
    _ count: Int, employees: Int
  ) throws -> (files: [StoreFile], employees: [ObjectNumber]) {
    let path = folder.path("0.arbor")
    var opening = StoreOpening(.file(path), model: try OfficeModel.make())
    opening.durability = .relaxed
    let first = try StoreFile.open(opening)
    let draft = Draft(first)
    let numbers = try (0..<employees).map {
      try draft.insert("Employee", ["employeeID": .integer(Int64($0)), "age": .integer(0)])
    }
    try draft.commit()
    var files = [first]
    for place in 1..<count {
      let copy = folder.path("\(place).arbor")
      try first.copy(to: copy, compacting: false, keepsMarker: false)
      opening.location = .file(copy)
      files.append(try StoreFile.open(opening))
    }
    return (files, numbers)
  }

  private func age(_ number: ObjectNumber, _ file: StoreFile) throws -> Int64 {
    let draft = Draft(file)
    let entity = try draft.entity("Employee")
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    let allocator = SlabAllocator()
    let record = try #require(try snapshot.record(number, allocator: allocator))
    guard case .integer(let age) = record.value(try draft.field("age", entity)) else { return -1 }
    return age
  }

  /// What one run leaves.
  private struct Outcome {
    /// Every name that was acknowledged, and the number that its object got.
    var acknowledged: [String: ObjectNumber] = [:]
    /// Names whose commits nobody knows about.
    var unknown: Set<String> = []
    var raises = 0
    var unknownRaises = 0
    var claims: Set<Int64> = []
  }

  /// One commit by one copy: a new object, a raise of what is there, or a claim of a unique value.
  private func commitOnce(
    _ file: StoreFile, _ employees: [ObjectNumber], step: Int, _ outcome: inout Outcome,
    _ random: inout SeededRandom
  ) throws {
    let kind = Int.random(in: 0..<3, using: &random)
    let name = "commit \(step)"
    let claim = Int64.random(in: 100..<160, using: &random)
    let draft = Draft(file)
    do {
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
      if let tag { outcome.acknowledged[name] = tag }
      if kind == 1 { outcome.raises += 1 }
      if kind == 2 { #expect(outcome.claims.insert(claim).inserted, "\(claim) is had twice") }
    } catch let error as StoreError {
      switch error {
      case .conflict: #expect(kind == 1)
      case .notUnique: #expect(kind == 2)
      case .outcomeUnknown:
        if kind == 0 { outcome.unknown.insert(name) }
        if kind == 1 { outcome.unknownRaises += 1 }
        if kind == 2 { outcome.claims.insert(claim) }
      case .inputOutput: break
      default: throw error
      }
    }
  }

  /// Names of tags with their numbers.
  private func tags(_ file: StoreFile) throws -> [String: ObjectNumber] {
    let draft = Draft(file)
    let entity = try draft.entity("Tag")
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    var tags: [String: ObjectNumber] = [:]
    let allocator = SlabAllocator(keepsSlabs: true)
    let cursor = try snapshot.reader.cursor(file.databases.records(entity.index))
    while let entry = try cursor.next() {
      let number = ObjectNumber(rawValue: entry.integerKey)
      let record = try #require(try snapshot.record(number, allocator: allocator))
      guard case .string(let name) = record.value(try draft.field("name", entity)) else { continue }
      #expect(tags.updateValue(number, forKey: name) == nil, "\(name) is there twice")
    }
    return tags
  }

  @Test(arguments: 0..<TestLength.of(12, long: 1000))
  func copiesComeOutTheSame(round: Int) throws {
    var random = SeededRandom()
    let seed = random.seed
    var faults = SimulatedLog.Faults()
    if round % 3 > 0 { (faults.lostAnswers, faults.lateReads) = (100, 300) }
    if round % 3 > 1 { (faults.lostRequests, faults.outages) = (300, 50) }
    let (files, employees) = try copies(3, employees: 4)
    defer { for file in files { file.close() } }
    let log = SimulatedLog(start: files[0].lastSequence, seed: seed ^ 1, faults: faults)
    for file in files { try? file.share(through: log) }
    for file in files where file.lastSequence == 1 { try share(file, log) }
    var outcome = Outcome()
    for step in 0..<60 {
      let file = files[Int.random(in: 0..<files.count, using: &random)]
      if Int.random(in: 0..<5, using: &random) == 0 { _ = try? file.takeOverNews() }
      try commitOnce(file, employees, step: step, &outcome, &random)
    }
    for file in files { try catchUp(file, with: log) }
    let contents = try StoreContents(files[0])
    for file in files {
      #expect(try StoreContents(file) == contents, "SeededRandom(seed: \(seed))")
      #expect(try file.check().isSound)
    }
    try expect(outcome, in: files[0], employees, seed)
  }

  /// Shares although the server may be out.
  private func share(_ file: StoreFile, _ log: SimulatedLog) throws {
    for _ in 0..<100 { if (try? file.share(through: log)) != nil { return } }
    try file.share(through: log)
  }

  private func catchUp(_ file: StoreFile, with log: SimulatedLog) throws {
    let last = log.groups.last?.last ?? file.lastSequence
    for _ in 0..<1000 where file.lastSequence < last { _ = try? file.takeOverNews() }
    #expect(file.lastSequence == last)
  }

  /// Everything acknowledged is there once; what nobody knows about is there once or not at all.
  private func expect(
    _ outcome: Outcome, in file: StoreFile, _ employees: [ObjectNumber], _ seed: UInt64
  ) throws {
    let tags = try tags(file)
    for (name, number) in outcome.acknowledged {
      #expect(tags[name] == number, "\(name), SeededRandom(seed: \(seed))")
    }
    #expect(Set(tags.keys).isSubset(of: outcome.unknown.union(outcome.acknowledged.keys)))
    #expect(Set(tags.values).count == tags.count)
    let raises = try employees.reduce(0) { try $0 + Int(age($1, file)) }
    #expect((outcome.raises...(outcome.raises + outcome.unknownRaises)).contains(raises))
  }

  // MARK: What goes wrong

  @Test func aLogThatLostItsEndIsNamed() throws {
    let (files, _) = try copies(2, employees: 1)
    defer { for file in files { file.close() } }
    let log = SimulatedLog(start: files[0].lastSequence, seed: 1)
    for file in files { try file.share(through: log) }
    func insert(_ name: String, _ file: StoreFile) throws {
      let draft = Draft(file)
      try draft.insert("Tag", ["name": .string(name)])
      try draft.commit()
    }
    try insert("a", files[0])
    try insert("b", files[0])
    log.lose(1)
    try insert("c", files[1])
    let error = #expect(throws: StoreError.self) { try insert("d", files[0]) }
    guard case .corrupted(nil, nil, let what) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(
      what == "The log has another commit 3 than the store: they have gone different ways.")
    #expect(try tags(files[0]).keys.sorted() == ["a", "b"])
    #expect(try tags(files[1]).keys.sorted() == ["a", "c"])
  }

  @Test func aStoreThatLeavesGoesOnByItself() throws {
    let (files, _) = try copies(2, employees: 1)
    defer { for file in files { file.close() } }
    let log = SimulatedLog(start: files[0].lastSequence, seed: 1)
    for file in files { try file.share(through: log) }
    let draft = Draft(files[0])
    let number = try draft.insert("Tag", ["name": .string("a")])
    try draft.commit()
    try files[0].purge()
    try files[1].takeOverNews()
    #expect(try StoreContents(files[0]) == StoreContents(files[1]))
    #expect(try tags(files[1]).isEmpty)
    files[1].endSharing()
    let own = Draft(files[1])
    // Numbers that the log gave out are not given out again.
    #expect(try own.insert("Tag", ["name": .string("b")]) > number)
    try own.commit()
    let error = #expect(throws: StoreError.self) { try files[1].share(through: log) }
    guard case .corrupted(nil, nil, let what) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(
      what == "The store has commits of its own behind commit 3, up to which it has its log.")
  }
}
