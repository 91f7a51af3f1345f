import ArborModel
import ArborStore
import LMDB
import TestSupport
import Testing

/// Damage of every kind, which the check must find and report.
///
/// Damaged pages are tested in `PageHealthTests`, external binary values in `BlobStorageTests`,
/// missing values in `StoreCheckerBoundsTests`, and outdated pages in `StoreDigestsTests`.
@Suite struct StoreCheckerTests {
  /// The objects of the store that is damaged.
  struct World {
    let file: StoreEngine
    let company: ObjectNumber
    let ada: ObjectNumber
    let bob: ObjectNumber
    let tag: ObjectNumber
    let badge: ObjectNumber
    let project: ObjectNumber
    let tasks: [ObjectNumber]

    init(_ file: StoreEngine) throws {
      self.file = file
      let draft = Draft(file)
      company = try draft.insert("Company", ["name": "Foo"])
      tag = try draft.insert("Tag", ["name": "new"])
      ada = try draft.insert(
        "Employee", ["name": "Ada", "employeeID": 1, "email": "ada@foo"],
        to: ["company": company])
      bob = try draft.insert(
        "Employee", ["name": "Bob", "employeeID": 2, "email": "bob@foo"],
        to: ["company": company])
      badge = try draft.insert("Badge", [:], to: ["employee": ada])
      project = try draft.insert("Project", ["title": "Big"])
      tasks = try ["one", "two", "three"].map { [project] title in
        try draft.insert("Task", ["title": .string(title)], to: ["project": project])
      }
      try draft.edit(project, "tasks", .reorder(tasks))
      try draft.link(ada, "tags", tag)
      try draft.commit()
      try draft.update(ada, to: ["badge": badge])
      try draft.commit()
    }
  }

  typealias Kind = StoreCheckReport.Problem.Kind

  /// Damages a store and returns the kinds of problems that the check reports.
  private func kinds(
    _ plant: (World, Vandal) throws -> Void
  ) throws -> Set<Kind> {
    Set(try problems(plant).map(\.kind))
  }

  /// Damages a store and returns the problems that the check reports.
  private func problems(
    _ plant: (World, Vandal) throws -> Void
  ) throws -> [StoreCheckReport.Problem] {
    let folder = try TemporaryFolder()
    let file = try StoreEngine.open(
      StoreOpening(.file(folder.path("a.arbor")), model: OfficeModel.make()))
    defer { file.close() }
    let world = try World(file)
    #expect(try file.check().description.hasSuffix("sound"))
    try plant(world, Vandal(file: file))
    return try file.check().problems
  }

  @Test("The check of a sound store counts records, index entries and links")
  func countsWhatItCompares() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      _ = try World(store.file)
      let report = try store.file.check()
      #expect(report.isSound)
      #expect(report.recordCount == 9)
      // Two employees in six indexes, and a company and a tag in one each.
      #expect(report.indexEntryCount == 14)
      // Two employees of a company, a tag on both sides, and three tasks in one order.
      #expect(report.linkCount == 7)
    }
  }

  @Test("The description of a sound store has singular nouns for single entries")
  func describesSingleEntries() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let draft = Draft(store.file)
      try draft.insert("Tag", ["name": "new"])
      try draft.commit()
      #expect(try store.file.check().description == "1 record, 1 index entry, 0 links: sound")
    }
  }

  @Test("A damaged record is found")
  func findsADamagedRecord() throws {
    let found = try kinds { world, vandal in
      let records = try vandal.database(records: "Company")
      try vandal.write { transaction, _ in
        let bytes = try transaction.get(records, key: world.company.rawValue).map(Array.init) ?? []
        let changed = bytes.enumerated().map { $0 == 9 ? $1 ^ 1 : $1 }
        _ = try changed.withUnsafeBytes {
          try transaction.put(records, key: world.company.rawValue, value: $0)
        }
      }
    }
    #expect(found.contains(.damagedRecord))
  }

  @Test("A misplaced record is found")
  func findsAMisplacedRecord() throws {
    let found = try kinds { world, vandal in
      let records = try vandal.database(records: "Company")
      try vandal.write { transaction, _ in
        let bytes = try transaction.get(records, key: world.company.rawValue).map(Array.init) ?? []
        _ = try bytes.withUnsafeBytes {
          try transaction.put(records, key: world.tag.rawValue, value: $0)
        }
      }
    }
    #expect(found.contains(.misplacedRecord))
  }

  @Test(
    "A missing index entry is found",
    arguments: [("Person", "name"), ("Person", "email"), ("Employee", "byCompanyAndAge")])
  func findsAMissingIndexEntry(entity: String, name: String) throws {
    let found = try kinds { world, vandal in
      let index = try vandal.index(entity, name)
      try vandal.write { transaction, _ in
        let cursor = try transaction.reader.cursor(index)
        let key = try cursor.first().map { Array($0.key) } ?? []
        _ = try key.withUnsafeBytes { try transaction.delete(index, key: $0) }
      }
    }
    #expect(found == [.missingIndexEntry])
  }

  @Test("A stray index entry is found")
  func findsAStrayIndexEntry() throws {
    let found = try kinds { world, vandal in
      let index = try vandal.index("Employee", "age")
      try vandal.write { transaction, _ in
        _ = try [UInt8](repeating: 2, count: 9).withUnsafeBytes {
          try transaction.put(index, key: $0, number: world.ada.rawValue, .overwrite)
        }
      }
    }
    #expect(found == [.strayIndexEntry])
  }

  @Test("An index entry of the wrong object is reported")
  func findsAnEntryOfAnotherObject() throws {
    let found = try kinds { world, vandal in
      let index = try vandal.index("Employee", "employeeID")
      try vandal.write { transaction, _ in
        let cursor = try transaction.reader.cursor(index)
        let key = try cursor.first().map { Array($0.key) } ?? []
        try key.withUnsafeBytes {
          _ = try transaction.delete(index, key: $0)
          _ = try transaction.put(index, key: $0, number: world.bob.rawValue, .overwrite)
        }
      }
    }
    #expect(found == [.missingIndexEntry, .strayIndexEntry])
  }

  @Test("Duplicate values are found", arguments: [false, true])
  func findsDuplicates(isLong: Bool) throws {
    // Changes the record together with its index entries.
    let name: (String) -> String = { isLong ? String(repeating: "x", count: 600) + $0 : $0 }
    try TemporaryStore.use(OfficeModel.make()) { store in
      let draft = Draft(store.file)
      let one = try draft.insert("Company", ["name": .string(name("a"))])
      let two = try draft.insert("Company", ["name": .string(name("b"))])
      try draft.commit()
      let vandal = Vandal(file: store.file)
      let records = try vandal.database(records: "Company")
      let before = try store.file.snapshot()
      let old = try before.reader.get(records, key: two.rawValue).map(Array.init) ?? []
      before.close()
      try vandal.replace(two, withValuesOf: one)
      let report = try store.file.check()
      #expect(report.problems.contains { $0.kind == .duplicate && $0.object == two })
      try vandal.write { transaction, _ in
        _ = try old.withUnsafeBytes {
          try transaction.put(records, key: two.rawValue, value: $0)
        }
      }
    }
  }

  @Test("Links to a missing object are reported")
  func findsLinksToNothing() throws {
    let found = try kinds { world, vandal in
      let records = try vandal.database(records: "Tag")
      let index = try vandal.index("Tag", "name")
      try vandal.write { transaction, _ in
        _ = try transaction.delete(records, key: world.tag.rawValue)
        try transaction.clear(index)
      }
    }
    #expect(found == [.danglingLink])
  }

  @Test("A to-one field that refers to a missing object is reported")
  func findsAToOneFieldThatLeadsNowhere() throws {
    let found = try kinds { world, vandal in
      let records = try vandal.database(records: "Badge")
      try vandal.write { transaction, _ in
        _ = try transaction.delete(records, key: world.badge.rawValue)
      }
    }
    #expect(found == [.danglingLink])
  }

  @Test("A to-one field that refers to an object of the wrong entity is reported")
  func findsToOneFieldsThatLeadToAnotherEntity() throws {
    // The inverse of `badge` is to-one, and that of `company` is to-many.
    for name in ["badge", "company"] {
      let found = try kinds { world, vandal in
        try vandal.point(world.ada, name, at: world.tag)
      }
      #expect(found.contains(.danglingLink))
    }
  }

  @Test("A record stored under the number of another entity is reported")
  func findsARecordOfAnotherEntity() throws {
    let found = try kinds { world, vandal in
      let other = ObjectNumber(entity: world.tag.entity, sequence: world.badge.sequence)
      try vandal.move(world.badge, to: other)
    }
    #expect(found == [.misplacedRecord, .danglingLink])
  }

  @Test("Derived members that don't match the to-one fields are reported")
  func findsDerivedMembersOutOfStep() throws {
    let found = try kinds { world, vandal in
      let employees = try vandal.relationship("Company", "employees").members
      try vandal.write { transaction, _ in
        _ = try transaction.delete(
          employees, key: world.company.rawValue, number: world.ada.rawValue)
        _ = try transaction.put(
          employees, key: world.company.rawValue, number: world.tag.rawValue, .overwrite)
      }
    }
    #expect(found == [.missingLink, .strayLink])
  }

  @Test("A link that is stored on one side only is reported")
  func findsOneSidedLinks() throws {
    let found = try kinds { world, vandal in
      let tags = try vandal.relationship("Employee", "tags").members
      try vandal.write { transaction, _ in
        _ = try transaction.put(
          tags, key: world.bob.rawValue, number: world.tag.rawValue, .overwrite)
      }
    }
    #expect(found == [.missingLink, .strayLink])
  }

  @Test("A one-to-one relationship whose sides disagree is reported")
  func findsAOneToOneThatDisagrees() throws {
    let found = try kinds { world, vandal in
      // Ada's badge now refers to Bob, but Bob doesn't refer to it.
      let draft = Draft(world.file)
      try draft.update(world.badge, to: ["employee": world.bob])
      try draft.commit()
    }
    #expect(found == [.missingLink])
  }

  @Test("A missing order of members is reported")
  func findsOrdersOutOfStep() throws {
    let found = try kinds { world, vandal in
      let tasks = try vandal.relationship("Project", "tasks")
      try vandal.write { transaction, _ in
        let order = tasks.order ?? tasks.members
        _ = try transaction.delete(order, key: world.project.rawValue)
      }
    }
    #expect(found == [.order])
  }

  @Test("A counter that is less than the greatest object number is reported")
  func findsCountersBehind() throws {
    let found = try kinds { world, vandal in
      try vandal.write { transaction, _ in
        try StoreCounter.write(
          StoreFormat.objectCounter(world.ada.entity), 2, vandal.file.databases.arbor,
          transaction)
      }
    }
    #expect(found == [.counter])
  }

  @Test("Missing and unexpected entries of the history are reported")
  func findsGapsInTheHistory() throws {
    let gap = try kinds { world, vandal in
      try vandal.write { transaction, header in
        // Moves the commits in the header to the history, except the next to last one.
        let last = header.sequence
        try header.latestCommits.forEach(endingWith: last) { sequence, entry in
          guard sequence != last - 1 else { return }
          _ = try transaction.put(vandal.file.databases.history, key: sequence, value: entry)
        }
        header.latestCommits = LatestCommits()
      }
    }
    #expect(gap == [.history])
    let ahead = try kinds { world, vandal in
      try vandal.write { _, header in header.sequence += 1 }
    }
    #expect(ahead == [.history])
    // The commits in the header would follow the greatest sequence.
    let greatest = try problems { world, vandal in
      try vandal.write { transaction, _ in
        _ = try [UInt8](repeating: 0, count: 20).withUnsafeBytes {
          try transaction.put(vandal.file.databases.history, key: UInt64.max, value: $0)
        }
      }
    }
    #expect(Set(greatest.map(\.kind)) == [.history])
    let descends = "The history has commit 1 after commit \(UInt64.max)."
    #expect(greatest.contains { $0.description == descends })
  }

  @Test("Damaged metadata is found", arguments: ["catalog", "model", "model-digest", "layout/1/1"])
  func findsDamagedMetadata(key: String) throws {
    let found = try kinds { world, vandal in
      let number = world.company.entity
      let name = key.hasPrefix("layout") ? "layout/\(number)/1" : key
      try vandal.write { transaction, _ in
        try Array(name.utf8).withUnsafeBytes { key in
          let bytes = try transaction.get(vandal.file.databases.arbor, key: key)
          let changed = Array(bytes.map(Array.init)?.dropFirst() ?? [])
          _ = try changed.withUnsafeBytes {
            try transaction.put(vandal.file.databases.arbor, key: key, value: $0)
          }
        }
      }
    }
    #expect(found == [.header])
  }

  @Test(
    "A missing, an additional and a misplaced entry are found in an index of each kind",
    arguments: ["byTitle", "open", "onceOpen", "bodyWords"])
  func findsWhatAnIndexOfAnyKindHasWrong(name: String) throws {
    for damage in ["removed", "added", "changed"] {
      let folder = try TemporaryFolder()
      let file = try StoreEngine.open(
        StoreOpening(.file(folder.path("a.arbor")), model: IndexKindsModel.make()))
      defer { file.close() }
      let draft = Draft(file)
      let task = try draft.insert("Task", ["title": "Ä", "body": "one two", "rank": 101])
      let other = try draft.insert("Task", ["title": "b", "rank": 3, "isDone": true])
      try draft.commit()
      #expect(try file.check().isSound)
      let vandal = Vandal(file: file)
      let index = try vandal.index("Task", name)
      try vandal.write { transaction, _ in
        let entry = try transaction.reader.cursor(index).first()
        var key = try #require(entry).key.map(\.self)
        switch damage {
        case "removed": _ = try key.withUnsafeBytes { try transaction.delete(index, key: $0) }
        case "added":
          _ = try key.withUnsafeBytes {
            try transaction.put(index, key: $0, number: other.rawValue + 9, .overwrite)
          }
        default:
          _ = try key.withUnsafeBytes { try transaction.delete(index, key: $0) }
          key[1] ^= 4
          _ = try key.withUnsafeBytes {
            try transaction.put(index, key: $0, number: task.rawValue, .overwrite)
          }
        }
      }
      let expected: Set<Kind> =
        switch damage {
        case "removed": [.missingIndexEntry]
        case "added": [.strayIndexEntry]
        default: [.missingIndexEntry, .strayIndexEntry]
        }
      #expect(Set(try file.check().problems.map(\.kind)) == expected, "\(damage)")
    }
  }
}
