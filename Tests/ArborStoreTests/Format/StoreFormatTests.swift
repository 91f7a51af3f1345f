import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborStore
@testable import LMDB

/// The examples in the article on the format, which must decode to the described values and encode
/// to the same bytes.
@Suite struct StoreFormatTests {
  /// The examples of the article by name.
  private let article: [String: [UInt8]]
  private let schema: ModelSchema
  private let employee: EntitySchema
  private let ada = ObjectNumber(entity: 2, sequence: 7)
  private let foo = ObjectNumber(entity: 1, sequence: 1)

  init() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Company") {
        AttributeDescription("name", .string, .unique)
        RelationshipDescription("employees", to: "Employee", inverse: "company", .toMany)
      }
      EntityDescription("Employee") {
        AttributeDescription("name", .string, .optional)
        AttributeDescription("age", .integer16, .default(18), .indexed)
        RelationshipDescription("company", to: "Company", inverse: "employees")
      }
    }
    schema = try ModelSchema(model, catalog: SchemaCatalog(numbering: model, seed: 0x89AB_CDEF))
    employee = try #require(schema.entity(named: "Employee"))
    article = try ArticleExamples.of("StoreFormat")
  }

  private func expect(_ name: String, _ bytes: [UInt8]) {
    let told = article[name] ?? []
    #expect(
      told == bytes,
      "\(name): \(bytes.map { String(format: "%02X", $0) }.joined(separator: " "))")
  }

  private func key(_ value: PropertyValue, _ kind: FieldKind, isAscending: Bool = true) -> [UInt8] {
    var key = KeyBuffer()
    let fits = KeyEncoder.append(value, as: kind, isAscending: isAscending, to: &key)
    #expect(fits)
    return Array(key.bytes)
  }

  // MARK: The examples

  @Test("Every example of the article has a test")
  func everyExampleIsTested() {
    #expect(
      Set(article.keys) == [
        "header", "digests", "scrub", "shared position", "migration", "index builds", "former",
        "catalog",
        "layout",
        "record",
        "object number", "number in an index", "number in a relationship",
        "counter", "age 36",
        "age nil",
        "name Ada", "name ÉDITH, folded", "token ada", "token land", "token of",
        "age 36, descending", "member, position", "position, member", "history",
        "history with a tombstone", "history with links", "blob reference", "blob key",
        "log readers", "logged commit", "journal entry",
        "end of the journal entry's sector, after 436 zeros",
      ])
  }

  @Test("The header matches the article")
  func header() throws {
    let header = HeaderRecord(
      pageSize: 4096, modelGeneration: 1,
      storeID: try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")),
      modelFingerprint: ModelFingerprint(bits: 0x0102_0304_0506_0708_090A_0B0C_0D0E_0F10),
      transactionID: 5,
      bootID: try #require(UUID(uuidString: "FFEEDDCC-BBAA-9988-7766-554433221100")),
      sequence: 3)
    expect("header", header.encoded())
    let read = try (article["header"] ?? []).withUnsafeBytes { try HeaderRecord($0) }
    #expect(read == header)
  }

  @Test("A journal entry matches the article")
  func journalEntry() throws {
    let entry = JournalEntry(
      transactionID: 6, counters: [("unique-id", 65)], first: 4, commits: [[0xAA, 0xBB, 0xCC]])
    let position = JournalPosition(offset: 8192, chain: 0xCAFE_BABE, transactionID: 5)
    let (bytes, end) = entry.encoded(at: position, epoch: 0x1122_3344_5566_7788)
    expect("journal entry", Array(bytes[..<60]))
    #expect(bytes[60..<496].allSatisfy { $0 == 0 })
    expect("end of the journal entry's sector, after 436 zeros", Array(bytes[496...]))
    #expect(bytes.count == 512 && end.offset == 8192 + 4096 && end.transactionID == 6)
    #expect(
      bytes.withUnsafeBytes { JournalSectors.content(of: $0) }
        == .part(of: JournalSectors.Owner(transactionID: 6, checksum: end.chain)))
    let read = try #require(
      bytes.withUnsafeBytes { bytes in
        JournalEntry.Frame(bytes).flatMap { frame in
          JournalSectors.join(bytes, length: frame.length).withUnsafeBytes {
            JournalEntry(frame, $0)
          }
        }
      })
    #expect(read.commits == entry.commits && read.first == 4 && read.transactionID == 6)
    #expect(read.counters.map(\.name) == ["unique-id"] && read.counters.map(\.value) == [65])
  }

  /// The hashes of an index entry and a link are those in the article's table.
  @Test("Digests match the article")
  func digests() throws {
    func change(_ name: String, _ key: [UInt8], _ number: [UInt8]) -> EntryDigestChange {
      let seed = EntryDigest.seed(of: name)
      let sum = key.withUnsafeBytes { key in
        number.withUnsafeBytes { EntryDigest.hash(seed, key, $0) }
      }
      return EntryDigestChange(seed: seed, sum: sum)
    }
    var digests = DatabaseDigests(transactionID: 5)
    let company = withUnsafeBytes(of: foo.rawValue.littleEndian) { Array($0) }
    digests.apply([
      change("i/Employee/age", key(36, .int16), article["number in an index"] ?? []),
      change("r/Company/employees", company, article["number in a relationship"] ?? []),
    ])
    expect("digests", digests.encoded())
    #expect((article["digests"] ?? []).withUnsafeBytes { DatabaseDigests($0) } == digests)
  }

  @Test("The record of scrubs matches the article")
  func scrub() {
    var record = ScrubRecord(completed: Date(timeIntervalSinceReferenceDate: 800_000_000))
    record.begun = Date(timeIntervalSinceReferenceDate: 800_604_800)
    record.hasReadPages = true
    record.databases = [EntryDigest.seed(of: "i/Employee/age")]
    expect("scrub", record.encoded())
    #expect((article["scrub"] ?? []).withUnsafeBytes { ScrubRecord($0) } == record)
  }

  @Test("A migration marker matches the article")
  func migrationMarker() throws {
    let marker = MigrationMarker(
      plan: 0x0102_0304_0506_0708_090A_0B0C_0D0E_0F10,
      target: ModelFingerprint(bits: 0x1112_1314_1516_1718_191A_1B1C_1D1E_1F20), generation: 1,
      began: Date(timeIntervalSinceReferenceDate: 800_000_000))
    expect("migration", marker.encoded())
    #expect((article["migration"] ?? []).withUnsafeBytes { MigrationMarker($0) } == marker)
  }

  @Test("A former model matches the article")
  func formerModel() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Note") { AttributeDescription("text", .string, .optional) }
    }
    let schema = try ModelSchema(model, catalog: SchemaCatalog(numbering: model, seed: 0x89AB_CDEF))
    let former = FormerModel(
      sequence: 12, fingerprint: ModelFingerprint(bits: 0x0102_0304_0506_0708_090A_0B0C_0D0E_0F10),
      schema: schema)
    expect("former", former.encoded())
    let read = try (article["former"] ?? []).withUnsafeBytes { try FormerModel($0) }
    #expect(read.sequence == former.sequence && read.fingerprint == former.fingerprint)
    #expect(read.schema.model == model && read.schema.catalog == schema.catalog)
  }

  @Test("The list of index builds matches the article")
  func indexBuilds() throws {
    let list = IndexBuildList([
      .init(
        index: 3, part: 16_384,
        position: .init(
          key: key(.string("Ada"), .string),
          number: ObjectNumber(entity: 2, sequence: 40_000).rawValue)),
      .init(index: 5, state: .writeOnly, part: .max),
    ])
    expect("index builds", list.encoded())
    #expect((article["index builds"] ?? []).withUnsafeBytes { IndexBuildList($0) } == list)
  }

  @Test("External binary values match the article")
  func blobs() throws {
    let layout = RecordLayout(
      entity: 2, number: 1, fields: [(.binary, false, 3, .null)], external: [3])
    let field = layout.fields[0]
    let reference = BlobReference(version: 2, checksum: 0xDEAD_BEEF, length: 100_000)
    expect("blob reference", reference.bytes)
    let name = BlobName(reference, of: ada, field)
    expect("blob key", name.key(chunk: 1))
    let read = (article["blob key"] ?? []).withUnsafeBytes { BlobName.of(key: $0) }
    #expect(read?.name == name && read?.chunk == 1)
    let allocator = SlabAllocator()
    var record = RecordBuffer(copying: layout.template, into: allocator)
    record.setFlags(RecordLayout.blobFlag)
    (article["blob reference"] ?? []).withUnsafeBytes {
      record.store(field, bytes: $0, allocator: allocator)
    }
    #expect(record.view.blob(field) == reference)
  }

  @Test("The catalog matches the article")
  func catalog() {
    expect("catalog", CatalogCodec.encode(schema.catalog))
    let read = (article["catalog"] ?? []).withUnsafeBytes { CatalogCodec.decode($0) }
    #expect(read == schema.catalog)
  }

  @Test("A layout matches the article")
  func layout() {
    expect("layout", LayoutCodec.encode(StoredLayout(employee)))
    let read = (article["layout"] ?? []).withUnsafeBytes {
      LayoutCodec.decode($0, entity: 2, number: 1)
    }
    #expect(read?.layout.fields == employee.layout.fields)
    #expect(read?.defaults == [.null, 18, .null])
  }

  @Test("A record matches the article")
  func record() throws {
    let allocator = SlabAllocator()
    var buffer = RecordBuffer(copying: employee.layout.template, into: allocator)
    let fields = employee.layout.fields
    buffer.store(fields[0], "Ada", allocator: allocator)
    buffer.store(fields[1], Int16(36))
    buffer.store(fields[2], foo.rawValue)
    var bytes = [UInt8](repeating: 0, count: buffer.view.sealedSize(employee.layout))
    bytes.withUnsafeMutableBytes {
      buffer.view.seal(into: $0, layout: employee.layout, key: ada, version: 2, commit: 3)
    }
    expect("record", bytes)
    try (article["record"] ?? []).withUnsafeBytes { bytes in
      let base = try #require(bytes.baseAddress)
      let record = RecordView(base: base, count: bytes.count)
      #expect(record.verify(employee.layout, key: ada) == nil)
      #expect(record.version == 2 && record.string(fields[0]) == "Ada")
      #expect(record.load(fields[1], as: Int16.self) == 36)
      #expect(record.reference(fields[2]) == foo)
    }
  }

  @Test("Object numbers and counters match the article")
  func numbers() throws {
    expect("object number", withUnsafeBytes(of: ada.rawValue.littleEndian, Array.init))
    // The values of a store in which Ada has an age and works for Foo.
    try TemporaryStore.use(schema.model) { store in
      let draft = Draft(store.file)
      let company = try draft.insert("Company", ["name": "Foo"])
      for _ in 1...6 { try draft.insert("Employee", ["age": 18]) }
      try draft.insert("Employee", ["age": 36], to: ["company": company])
      try draft.commit()
      let file = store.file
      let snapshot = try file.snapshot()
      defer { snapshot.close() }
      for (example, database) in [
        ("number in an index", file.databases.index(employee.index, "age")),
        ("number in a relationship", file.databases.relationship(0, "employees")),
      ] {
        let database = try #require(database)
        let cursor = try snapshot.reader.cursor(database)
        let last = try #require(try cursor.last())
        expect(example, Array(last.value))
        #expect(cursor.number(of: last) == ada.rawValue)
      }
    }
    expect("counter", StoreCounter.encode(65))
  }

  @Test("Keys match the article")
  func keys() {
    expect("age 36", key(36, .int16))
    expect("age nil", key(.null, .int16))
    expect("name Ada", key("Ada", .string))
    expect("age 36, descending", key(36, .int16, isAscending: false))
    let ages: [KeyDecoder.Column] = [(kind: .int16, isAscending: true)]
    let read = (article["age 36"] ?? []).withUnsafeBytes {
      KeyDecoder.decode($0, columns: ages)
    }
    #expect(read?.values == [36])
  }

  @Test("Keys of folded texts and tokens match the article")
  func keysOfTexts() {
    expect(
      "name ÉDITH, folded",
      key(.string(StringFolding([.case, .diacritics]).fold("ÉDITH")), .string))
    var tokens = TextTokens()
    tokens.read("Ada of Ada-Land")
    tokens.sortDistinct()
    #expect(tokens.count == 3)
    for (wordIndex, word) in ["ada", "land", "of"].enumerated() {
      var key = KeyBuffer()
      tokens.withToken(wordIndex) { KeyEncoder.setToken($0, to: &key) }
      expect("token \(word)", Array(key.bytes))
    }
  }

  @Test("Entries of ordered members match the article")
  func orderedMembers() {
    let position = StoreFormat.positionGap
    let pair: (UInt64, UInt64) -> [UInt8] = { first, second in
      withUnsafeBytes(of: (first.bigEndian, second.bigEndian), Array.init)
    }
    expect("member, position", pair(ada.rawValue, position))
    expect("position, member", pair(position, ada.rawValue))
  }

  @Test("A history entry matches the article")
  func history() {
    let entry = HistoryEntry(
      sequence: 3, date: Date(timeIntervalSinceReferenceDate: 800_000_000), author: "Ada",
      contextName: nil, isBulk: false,
      changes: [
        .init(number: foo, kind: .insert, changedProperties: .max),
        .init(number: ada, kind: .update, changedProperties: 2),
      ])
    expect("history", HistoryCodec.encode(entry, schema))
    let read = (article["history"] ?? []).withUnsafeBytes {
      HistoryCodec.decode($0, sequence: 3, schema)
    }
    #expect(read == entry)
  }

  @Test("A history entry with links matches the article")
  func historyWithLinks() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Company") {
        RelationshipDescription("employees", to: "Employee", inverse: "company", .toMany)
      }
      EntityDescription("Employee") {
        AttributeDescription("name", .string, .optional)
        RelationshipDescription("company", to: "Company", inverse: "employees")
        RelationshipDescription("skills", to: "Skill", inverse: "holders", .toMany)
      }
      EntityDescription("Skill") {
        RelationshipDescription("holders", to: "Employee", inverse: "skills", .toMany)
      }
    }
    let schema = try ModelSchema(model, catalog: SchemaCatalog(numbering: model))
    let entry = HistoryEntry(
      sequence: 5, date: Date(timeIntervalSinceReferenceDate: 800_000_000), author: nil,
      contextName: nil, isBulk: false,
      changes: [
        .init(number: ada, kind: .update, changedProperties: 0b101),
        .init(
          number: ObjectNumber(entity: 3, sequence: 1), kind: .update, changedProperties: 0b1),
      ])
    expect("history with links", HistoryCodec.encode(entry, schema))
    let read = (article["history with links"] ?? []).withUnsafeBytes {
      HistoryCodec.decode($0, sequence: 5, schema)
    }
    #expect(read == entry)
  }

  @Test("A history entry with a tombstone matches the article")
  func historyWithATombstone() {
    let entry = HistoryEntry(
      sequence: 4, date: Date(timeIntervalSinceReferenceDate: 800_000_000), author: nil,
      contextName: nil, isBulk: false,
      changes: [.init(number: ada, kind: .delete, changedProperties: .max)],
      tombstones: [.init(number: ada, values: ["name": .string("Ada")])])
    expect("history with a tombstone", HistoryCodec.encode(entry, schema))
    let read = (article["history with a tombstone"] ?? []).withUnsafeBytes {
      HistoryCodec.decode($0, sequence: 4, schema)
    }
    #expect(read == entry)
  }

  @Test("The list of log readers matches the article")
  func logReaders() throws {
    let id = try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
    let readers = LogReaders([id: 41])
    expect("log readers", readers.encoded())
    #expect((article["log readers"] ?? []).withUnsafeBytes { LogReaders($0) } == readers)
  }

  @Test("A logged commit matches the article")
  func loggedCommit() throws {
    let allocator = SlabAllocator()
    var buffer = RecordBuffer(copying: employee.layout.template, into: allocator)
    buffer.store(employee.layout.fields[0], "Ada", allocator: allocator)
    buffer.store(employee.layout.fields[1], Int16(36))
    buffer.store(employee.layout.fields[2], foo.rawValue)
    var set = ChangeSet()
    set.records = [.update(ada, from: 1, buffer.view, changedProperties: 2)]
    set.metadata = [(key: "city", value: Array("Oslo".utf8))]
    let entry = HistoryEntry(
      sequence: 3, date: Date(timeIntervalSinceReferenceDate: 800_000_000), author: nil,
      contextName: nil, isBulk: false,
      changes: [.init(number: ada, kind: .update, changedProperties: 2)])
    let history = HistoryCodec.encode(entry, schema)
    expect(
      "logged commit",
      LoggedCommitCodec.encode(
        set, changes: set.records, history: history, sequence: 3, generation: 1, schema))
    let read = try #require(
      (article["logged commit"] ?? []).withUnsafeBytes {
        LoggedCommitCodec.decode($0, sequence: 3, schema)
      })
    #expect(read.sequence == 3 && read.generation == 1 && !read.set.purges)
    #expect(read.history == history)
    #expect(read.set.records.map(\.number) == [ada] && read.set.records[0].baseVersion == 1)
    #expect(read.set.records[0].record?.string(employee.layout.fields[0]) == "Ada")
    #expect(read.set.metadata.map(\.key) == ["city"])
    let summary = (article["logged commit"] ?? []).withUnsafeBytes {
      LoggedCommitCodec.summary($0, sequence: 3)
    }
    #expect(summary?.date == entry.date)
  }
}
