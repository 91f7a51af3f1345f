import ArborModel
import ArborStore
import Foundation
import LMDB
import TestSupport
import Testing

@Suite struct BlobStorageTests {
  private func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Photo") {
        AttributeDescription("title", .string, .default(""))
        AttributeDescription("image", .binary, .externalStorage, .optional)
      }
    }
  }

  private func image(_ draft: Draft) throws -> RecordField {
    try #require(try draft.entity("Photo").attributes.first { $0.name == "image" }).field
  }

  /// Inserts an object whose image is stored externally.
  private func insert(_ file: StoreEngine, _ data: Data) throws -> ObjectNumber {
    let draft = Draft(file)
    let number = try draft.insert("Photo", ["title": "x"])
    try refer(draft, number, to: data, version: 1)
    try draft.commit()
    return number
  }

  private func refer(
    _ draft: Draft, _ number: ObjectNumber, to data: Data, version: UInt32, brings: Bool = true
  ) throws {
    let field = try image(draft)
    let reference = BlobStorage.reference(to: data, of: number, version: version)
    let last = draft.changes.records.popLast()
    let change = try #require(last)
    let bytes = try #require(change.record).bytes
    let allocator = SlabAllocator()
    var record = RecordBuffer(copying: bytes, into: allocator)
    record.store(field, reference, allocator: allocator)
    draft.keep(allocator.slab)
    draft.changes.records.append(
      change.kind == .insert
        ? .insert(number, record.view)
        : .update(number, from: change.baseVersion, record.view, changedProperties: 1))
    if brings {
      draft.changes.blobs.append(.init(BlobName(reference, of: number, field), data))
    }
  }

  private func read(_ file: StoreEngine, _ number: ObjectNumber) throws -> Data? {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    let allocator = SlabAllocator()
    let field = try image(Draft(file))
    guard let record = try snapshot.record(number, allocator: allocator) else { return nil }
    guard let reference = record.blob(field) else { return nil }
    return try snapshot.blob(reference, of: number, field)
  }

  private func chunks(_ file: StoreEngine) throws -> Int {
    let database = try #require(file.databases.blobs(0))
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    return try snapshot.reader.entryCount(database)
  }

  private func bytes(_ count: Int, _ seed: Int = 1) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &+ seed) })
  }

  @Test("The key of a chunk contains its object, property, version and chunk number")
  func keysSayWhoseChunkTheyAre() throws {
    let layout = RecordLayout(
      entity: 2, number: 1, fields: [(.binary, false, 3, .null)], external: [3])
    let field = layout.fields[0]
    let number = ObjectNumber(entity: 2, sequence: 7)
    let name = BlobName(BlobReference(version: 5, checksum: 0, length: 1), of: number, field)
    let key = name.key(chunk: 258)
    #expect(key == [0, 2, 0, 0, 0, 0, 0, 7, 0, 3, 0, 0, 0, 5, 0, 0, 1, 2])
    let read = try #require(key.withUnsafeBytes { BlobName.of(key: $0) })
    #expect(read.name == name && read.chunk == 258)
    #expect(key.dropLast().withUnsafeBytes { BlobName.of(key: $0) } == nil)
  }

  @Test(
    "Binary values of any length are stored, replaced and deleted with all chunks",
    arguments: [1, 65_519, 65_520, 65_521, 131_040, 400_000])
  func everyLengthComesBackAndGoes(length: Int) throws {
    try TemporaryStore.use(model()) { store in
      let number = try insert(store.file, bytes(length))
      #expect(try read(store.file, number) == bytes(length))
      #expect(try chunks(store.file) == (length + 65_519) / 65_520)
      try store.reopen()
      #expect(try read(store.file, number) == bytes(length))
      let draft = Draft(store.file)
      try draft.update(number, ["title": "y"])
      try draft.commit()
      #expect(try read(store.file, number) == bytes(length))

      try draft.update(number, ["title": "z"])
      try refer(draft, number, to: bytes(70_000, 2), version: 3)
      try draft.commit()
      #expect(try read(store.file, number) == bytes(70_000, 2))
      #expect(try chunks(store.file) == 2)
      try draft.delete(number)
      try draft.commit()
      #expect(try chunks(store.file) == 0)
      _ = try insert(store.file, bytes(length))
      try store.file.purge()
      #expect(try chunks(store.file) == 0)
    }
  }

  @Test("A reference without its binary value is rejected")
  func aReferenceWithoutItsBinaryIsRefused() throws {
    try TemporaryStore.use(model()) { store in
      let draft = Draft(store.file)
      let number = try draft.insert("Photo")
      try refer(draft, number, to: bytes(20_000), version: 1, brings: false)
      #expect(throws: StoreError.self) { try draft.commit() }
      #expect(try read(store.file, number) == nil)
    }
  }

  @Test("An outdated reference reads the newest binary value")
  func anOutdatedReferenceReadsWhatIsThereNow() throws {
    try TemporaryStore.use(model()) { store in
      let number = try insert(store.file, bytes(20_000))
      let old = BlobStorage.reference(to: bytes(20_000), of: number, version: 1)
      let draft = Draft(store.file)
      let field = try image(draft)
      try draft.update(number, ["title": "y"])
      // The version is reused with another value.
      try refer(draft, number, to: bytes(30_000, 9), version: 1)
      try draft.commit()
      let snapshot = try store.file.snapshot()
      defer { snapshot.close() }
      #expect(try snapshot.blob(old, of: number, field) == bytes(30_000, 9))
    }
  }

  enum Harm: CaseIterable {
    case damaged, missing, behindTheEnd, nobodys

    func plant(
      _ transaction: borrowing WriteTransaction, _ database: Database, _ key: [UInt8]
    ) throws {
      var key = key
      if self == .behindTheEnd { key[17] = 9 }
      if self == .nobodys { key = [UInt8](repeating: 3, count: 18) }
      let value: [UInt8] = [1, 2, 3]
      try key.withUnsafeBytes { key in
        if self == .missing {
          _ = try transaction.delete(database, key: key)
        } else {
          _ = try value.withUnsafeBytes { try transaction.put(database, key: key, value: $0) }
        }
      }
    }
  }

  @Test("The check reports damaged, missing and stray binary values", arguments: Harm.allCases)
  func theCheckFindsDamagedMissingAndStrayBinaries(harm: Harm) throws {
    let folder = try TemporaryFolder()
    let file = try StoreEngine.open(
      StoreOpening(.file(folder.path("a.arbor")), model: try model()))
    defer { file.close() }
    let number = try insert(file, bytes(70_000))
    let reference = BlobStorage.reference(to: bytes(70_000), of: number, version: 1)
    let key = BlobName(reference, of: number, try image(Draft(file))).key(chunk: 1)
    let database = try #require(file.databases.blobs(0))
    #expect(try file.check().isSound)
    try Vandal(file: file).write { transaction, _ in
      try harm.plant(transaction, database, key)
    }
    let isDamage = harm == .damaged || harm == .missing
    #expect(Set(try file.check().problems.map(\.kind)) == [isDamage ? .damagedBlob : .strayBlob])
    if isDamage {
      #expect(throws: StoreError.self) { try read(file, number) }
    } else {
      #expect(try read(file, number) == bytes(70_000))
    }
  }

  #if os(Linux)
    @Test("A full disk loses no binary value")
    func aFullDiskLosesNoBinary() async {
      await #expect(processExitsWith: .exitCode(7)) {
        try BlobStorageTests().fillTheDisk()
        exit(7)
      }
    }

    private func fillTheDisk() throws {
      let folder = try TemporaryFolder()
      let file = try StoreEngine.open(
        StoreOpening(.file(folder.path("a.arbor")), model: try model()))
      let kept = try insert(file, bytes(100_000))
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 1_000_000, rlim_max: rlim_t.max)
      guard setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { exit(2) }
      do {
        let draft = Draft(file)
        try draft.update(kept, ["title": "y"])
        try refer(draft, kept, to: bytes(3_000_000), version: 2)
        try draft.commit()
        exit(3)
      } catch StoreError.diskFull {}
      guard try read(file, kept) == bytes(100_000), try file.check().isSound else { exit(4) }
      file.close()
    }
  #endif
}
