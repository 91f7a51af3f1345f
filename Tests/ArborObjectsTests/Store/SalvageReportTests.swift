import ArborJSON
import ArborLog
import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborObjects
@testable import ArborStore

/// The report of a salvage, and its effect on the damaged store.
@Suite struct SalvageReportTests {
  private let folder: TemporaryFolder
  private let model: ManagedObjectModel
  private var url: URL { folder.url.appending(path: "Staff.arbor") }
  private var rescued: URL { folder.url.appending(path: "Rescued.arbor") }

  init() throws {
    folder = try TemporaryFolder()
    model = try ManagedObjectModel {
      EntityDescription("Person") {
        AttributeDescription("name", .string, .indexed)
        RelationshipDescription("team", to: "Team", inverse: "people")
      }
      EntityDescription("Team") {
        AttributeDescription("name", .string, .unique)
        RelationshipDescription("people", to: "Person", inverse: "team", .toMany)
      }
    }
    let store = try PersistentStore(model: model, at: .file(url))
    defer { store.close() }
    let context = store.makeContext()
    let team = try context.insert("Team")
    team["name"] = "Data"
    for name in ["Ada", "Grace"] {
      let person = try context.insert("Person")
      person["name"] = name
      person["team"] = team
    }
    try context.commit()
  }

  @Test("The report of a sound store says that nothing was lost")
  func tellsThatNothingIsLost() throws {
    let before = try Data(contentsOf: url)
    let report = try PersistentStore.salvage(url, to: rescued)
    #expect(report.isComplete)
    #expect(
      report.description == """
        Read the newest state, from commit 1.
        Person: 2 kept, 0 doubtful, 0 lost
        Team: 1 kept, 0 doubtful, 0 lost
        """)
    #expect(
      report.json.text(.compact)
        == #"{"state":"newest","sequence":1,"isSequenceCertain":true,"#
        + #""entities":[{"name":"Person","kept":2,"doubtful":0,"#
        + #""lost":0},{"name":"Team","kept":1,"doubtful":0,"lost":0}],"doubtful":[],"#
        + #""leftOutCount":0,"leftOut":[],"lostLinkCount":0,"lostLinks":[],"#
        + #""lostBinaryCount":0,"lostBinaries":[],"#
        + #""doubtfulMetadata":[],"isModelGiven":false,"isCatalogMade":false,"#
        + #""isUniqueIDLost":false}"#)
    #expect(try Data(contentsOf: url) == before)
    let store = try PersistentStore(model: model, at: .file(rescued))
    defer { store.close() }
    try store.check()
    let context = store.makeContext()
    let people = try context.fetch(
      FetchRequest<ManagedObject>(entity: "Person", predicate: "team.name == 'Data'"))
    #expect(people.count == 2)
  }

  @Test("A salvage without the catalog is not complete")
  func isNotCompleteWithoutTheCatalog() throws {
    var bytes = try Data(contentsOf: url)
    let key = Data(StoreFormat.catalogKey.utf8)
    var rest = bytes.startIndex..<bytes.endIndex
    while let found = bytes.range(of: key, in: rest) {
      // The catalog follows its key and has a checksum.
      bytes[found.upperBound] ^= 1
      rest = found.upperBound..<bytes.endIndex
    }
    try bytes.write(to: url)
    let report = try PersistentStore.salvage(url, to: rescued)
    #expect(report.isCatalogMade && !report.isComplete)
    #expect(
      report.description == """
        Read the newest state, from commit 1.
        Person: 2 kept, 0 doubtful, 0 lost
        Team: 1 kept, 0 doubtful, 0 lost
        The file no longer contains its catalog. The catalog of a new store was used.
        """)
  }

  @Test("Keys in a report are escaped to stay on one line")
  func keysStayOnTheirLines() throws {
    var outcome = SalvageOutcome()
    outcome.state = .newest
    outcome.sequence = 7
    outcome.doubtfulMetadata = ["a\nPerson: 9 kept\u{1B}[2J"]
    let result = SalvageResult(
      outcome: outcome, schema: try ModelSchema(model, catalog: SchemaCatalog(numbering: model)),
      storeID: UUID())
    #expect(
      SalvageReport(result).description == """
        Read the newest state, from commit 7.
        A later header may be lost, so the number of the last commit is uncertain.
        doubtful metadata: a\\nPerson: 9 kept\\u{1B}[2J
        """)
  }

  @Test("A salvage is not complete if a later header may be lost")
  func isNotCompleteWhereALaterHeaderMayBeLost() throws {
    var outcome = SalvageOutcome()
    outcome.state = .newest
    let schema = try ModelSchema(model, catalog: SchemaCatalog(numbering: model))
    let uncertain = SalvageResult(outcome: outcome, schema: schema, storeID: UUID())
    #expect(!SalvageReport(uncertain).isComplete)
    outcome.isHeaderCertain = true
    let certain = SalvageResult(outcome: outcome, schema: schema, storeID: UUID())
    #expect(SalvageReport(certain).isComplete)
  }

  /// A salvaged store keeps its object IDs, starts its backups with a snapshot, and reports all
  /// commits as bulk changes.
  @Test("A salvaged store requires its followers to start over")
  func thoseWhoFollowedReadAnew() throws {
    let log = FolderLog(folder.url.appending(path: "log"))
    let damaged = try PersistentStore(at: .file(url))
    #expect(try damaged.backUp(to: log).isSnapshot)
    let ids = try damaged.makeContext().fetchIDs(FetchRequest<ManagedObject>(entity: "Person"))
    let sequence = damaged.engine.lastSequence
    damaged.close()
    _ = try PersistentStore.salvage(url, to: rescued)
    let store = try PersistentStore(model: model, at: .file(rescued))
    defer { store.close() }
    #expect(try store.makeContext().fetchIDs(FetchRequest<ManagedObject>(entity: "Person")) == ids)
    #expect(store.engine.lastSequence == sequence + 1)
    let backUp = try store.backUp(to: log)
    #expect(backUp.isSnapshot && backUp.sequence == sequence + 1)
    let snapshot = try store.engine.snapshot()
    defer { snapshot.close() }
    guard case .entries(let entries) = try snapshot.history(after: 0) else {
      Issue.record("The history is too old.")
      return
    }
    #expect(entries.map(\.isBulk) == Array(repeating: true, count: Int(sequence) + 1))
  }
}
