import ArborModel
import ArborStore
import LMDB
import TestSupport
import Testing

/// Random change sets, compared with plain dictionaries. The store must have the same contents,
/// reject exactly the invalid sets, and pass its check after every round.
@Suite("Random commits") struct RandomCommitsTests {
  @Test("The store agrees with dictionaries after random commits", arguments: 0..<12)
  func storeEqualsDictionaries(round: Int) throws {
    var random = SeededRandom()
    let seed = random.seed
    do {
      try TemporaryStore.use(OfficeModel.make(), inMemory: round % 3 != 0) { store in
        var office = RandomOffice()
        for step in 0..<80 {
          try commitOnce(store.file, &office, &random)
          if step % 16 == 15 {
            try store.check()
            if round % 3 == 0 { try store.reopen() }
            try compare(store.file, office)
          }
        }
      }
    } catch {
      Issue.record("SeededRandom(seed: \(seed)): \(error)")
    }
  }

  /// Changes a copy of the dictionaries, commits the difference, and keeps the copy if the commit
  /// succeeds.
  private func commitOnce(
    _ file: StoreEngine, _ office: inout RandomOffice, _ random: inout SeededRandom
  ) throws {
    var changed = office
    for _ in 0..<Int.random(in: 1...12, using: &random) {
      try changed.change(&random) { name in
        let entity = try Draft(file).entity(name)
        return ObjectNumber(
          entity: entity.number,
          sequence: try file.takeNumbers(1, for: entity).lowerBound)
      }
    }
    let draft = Draft(file)
    try OfficeDifference(from: office, to: changed).write(to: draft)
    let flaw = Flaw.allCases.randomElement(using: &random) ?? .none
    let isFlawed = plant(flaw, in: draft, office, changed)
    do {
      try draft.commit()
      #expect(!isFlawed && !changed.hasDuplicates, "\(flaw), seed \(random.seed)")
      office = changed
    } catch let error as StoreError {
      switch error {
      case .notUnique: #expect(changed.hasDuplicates, "seed \(random.seed)")
      case .conflict: #expect(isFlawed && flaw == .staleVersion, "seed \(random.seed)")
      case .missingTargets:
        // The set may also have assigned a new employee to the deleted company.
        #expect(
          isFlawed && (flaw == .missingTarget || flaw == .danglingDeletion), "seed \(random.seed)")
      case .stillLinked: #expect(isFlawed && flaw == .danglingDeletion, "seed \(random.seed)")
      default: throw error
      }
    }
  }

  // MARK: Flaws

  private enum Flaw: CaseIterable {
    case none, none2, none3, staleVersion, missingTarget, danglingDeletion
  }

  /// Introduces a flaw into a change set if the current state permits it.
  private func plant(
    _ flaw: Flaw, in draft: Draft, _ before: RandomOffice, _ after: RandomOffice
  ) -> Bool {
    switch flaw {
    case .none, .none2, .none3: return false
    case .staleVersion:
      guard let position = draft.changes.records.firstIndex(where: { $0.kind == .update }),
        let record = draft.changes.records[position].record
      else { return false }
      let change = draft.changes.records[position]
      draft.changes.records[position] = .update(
        change.number, from: change.baseVersion + 7, record,
        changedProperties: change.changedProperties)
      return true
    case .missingTarget:
      guard let tag = after.all("Tag").first, let employee = try? draft.entity("Employee") else {
        return false
      }
      let nobody = ObjectNumber(entity: employee.number, sequence: 1 << 40)
      try? draft.link(tag, "employees", nobody)
      return !draft.changes.links.isEmpty
    case .danglingDeletion:
      let changed = Set(draft.changes.records.map(\.number))
      // A company with an employee, neither of which this set changes.
      let employees = after.objects.filter { !changed.contains($0.key) }
      guard let company = employees.values.compactMap({ $0.targets["company"] }).min(),
        before.objects[company] != nil, !changed.contains(company)
      else { return false }
      return (try? draft.delete(company)) != nil
    }
  }

  // MARK: Comparing

  private func compare(_ file: StoreEngine, _ office: RandomOffice) throws {
    let draft = Draft(file)
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    let allocator = SlabAllocator()
    for (number, object) in office.objects {
      guard let record = try snapshot.record(number, allocator: allocator),
        let entity = file.schema.entity(of: number)
      else {
        Issue.record("\(number) is missing")
        continue
      }
      #expect(entity.name == object.entity)
      for (name, value) in object.values {
        #expect(record.value(try draft.field(name, entity)) == value, "\(name)")
      }
      for relationship in entity.relationships {
        try compare(relationship, of: number, record, object, office, snapshot, entity)
      }
    }
    var count = 0
    for entity in file.schema.entities where !entity.isAbstract {
      count += try snapshot.reader.entryCount(file.databases.records(entity.index))
    }
    #expect(count == office.objects.count)
  }

  private func compare(
    _ relationship: RelationshipSchema, of number: ObjectNumber, _ record: RecordView,
    _ object: RandomOffice.Object, _ office: RandomOffice, _ snapshot: StoreSnapshot,
    _ entity: EntitySchema
  ) throws {
    let expected: [ObjectNumber]
    switch relationship.storage {
    case .field(let index):
      let target = record.reference(entity.layout.fields[index])
      #expect(target == object.targets[relationship.name])
      return
    case .derived:
      let field = relationship.name == "employees" ? "company" : "manager"
      expected = office.objects.filter { $0.value.targets[field] == number }.map(\.key).sorted()
    case .links:
      let side = RandomOffice.Side(owner: number, relationship: relationship.name)
      expected = office.links[side] ?? []
    }
    #expect(try snapshot.members(relationship, of: number) == expected)
    #expect(try snapshot.memberCount(relationship, of: number) == expected.count)
    for member in expected.prefix(3) {
      #expect(try snapshot.contains(member, in: relationship, of: number))
    }
    #expect(
      try snapshot.contains(number, in: relationship, of: number) == expected.contains(number))
  }
}
