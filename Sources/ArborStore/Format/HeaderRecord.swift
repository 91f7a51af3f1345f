package import ArborFoundation
package import ArborModel

/// The record that every commit rewrites: the format of the file, the store's identity, its last
/// writer, and the newest commits.
///
/// ```
///  0         8        10       12           14       16         20          24          40
/// ┌─────────┬────────┬────────┬────────────┬────────┬──────────┬───────────┬───────────┐
/// │magic    │major   │minor   │byte order  │flags u8│page size │generation │store UUID │
/// │8 bytes  │u16     │u16     │u16 = 0x0102│back u8 │u32       │u32        │16 bytes   │
/// └─────────┴────────┴────────┴────────────┴────────┴──────────┴───────────┴───────────┘
///  40              56               64          80              88             92         96
/// ┌───────────────┬────────────────┬───────────┬───────────────┬──────────────┬──────────┐
/// │model          │LMDB            │boot ID    │commit         │features u32  │crc32c    │
/// │fingerprint 16 │transaction u64 │16 bytes   │sequence u64   │              │u32       │
/// └───────────────┴────────────────┴───────────┴───────────────┴──────────────┴──────────┘
/// ```
///
/// It is followed by the ``LatestCommits``. It is stored in the unnamed database, whose page every
/// commit writes anyway.
///
/// The transaction is that of LMDB's root page; if the two differ, another program has written to
/// the file. The generation increases whenever the model's fingerprint changes, so that a process
/// with an earlier model notices before it writes. *Back* is the number of earlier generations that
/// may continue to read.
///
/// Flag 1 indicates that the store is being migrated in a copy (``MigrationMarker``), 2 that some
/// indexes are incomplete (``IndexBuildList``), 4 that commits are kept in the log
/// (``LogReaders``), and 16 that the last commits may be on the medium only in the journal or in a
/// shared log (``StoreJournal``).
///
/// Each bit of *features* is a part of the format that was added by a later minor version and that a
/// reader has to know. A file with an unknown one is refused.
package struct HeaderRecord: Sendable, Hashable {
  package static let magic: [UInt8] = Array("ArborDB\0".utf8)
  package static let size = 96
  /// The size of the part before the flags, which identifies the file.
  private static let markSize = 14
  private static let migrationFlag: UInt8 = 1
  private static let indexBuildsFlag: UInt8 = 2
  private static let logFlag: UInt8 = 4
  private static let journalFlag: UInt8 = 16
  private static let byteOrder: UInt16 = 0x0102
  /// The features that this library knows. None have been added yet.
  private static let knownFeatures: UInt32 = 0
  /// The greatest sequence number that a record can contain.
  package static let maximumCommits: UInt64 = 1 << 48 - 1
  /// An upper limit that no store reaches, so that sums cannot overflow.
  package static let maximumTransactions: UInt64 = 1 << 62
  package static let maximumGeneration: UInt32 = 1 << 31

  package var majorVersion = StoreFormat.majorVersion
  package var minorVersion = StoreFormat.minorVersion
  package var pageSize: UInt32
  /// The flags that describe the state of the store. Later minor versions may define more.
  private var flags: UInt8 = 0
  /// The number of generations before ``modelGeneration`` that may continue to read.
  package var readableGenerations: UInt8 = 0
  package var modelGeneration: UInt32
  package var storeID: UUID
  package var modelFingerprint: ModelFingerprint
  package var transactionID: UInt64
  /// The boot ID of the last writer's machine, or zero if the system doesn't provide one.
  package var bootID: UUID
  /// The number of committed change sets.
  package var sequence: UInt64
  package var features: UInt32 = 0
  package var latestCommits: LatestCommits

  package init(
    pageSize: UInt32, modelGeneration: UInt32, storeID: UUID, modelFingerprint: ModelFingerprint,
    transactionID: UInt64, bootID: UUID, sequence: UInt64,
    latestCommits: LatestCommits = LatestCommits()
  ) {
    self.pageSize = pageSize
    self.modelGeneration = modelGeneration
    self.storeID = storeID
    self.modelFingerprint = modelFingerprint
    self.transactionID = transactionID
    self.bootID = bootID
    self.sequence = sequence
    self.latestCommits = latestCommits
  }

  /// The reason why bytes are not a usable header.
  package enum Problem: Error, Hashable {
    case foreign
    case otherByteOrder
    case tooNew(major: UInt16, minor: UInt16)
    case tooOld(major: UInt16, minor: UInt16)
    case damaged
  }

  /// The beginning of the header, which contains the version.
  package var mark: [UInt8] { encoded()[..<Self.markSize] + [0, 0] }

  /// Returns whether a process with the model of a generation may read the store.
  package func mayBeRead(byGeneration generation: UInt32) -> Bool {
    generation <= modelGeneration && modelGeneration - generation <= UInt32(readableGenerations)
  }

  /// Begins a new model generation. With `leavesReaders`, processes that can read the current one
  /// may continue to read.
  mutating func beginGeneration(leavesReaders: Bool) {
    modelGeneration += 1
    readableGenerations = leavesReaders ? min(readableGenerations, .max - 1) + 1 : 0
  }

  /// A Boolean value that indicates whether the store is being migrated in a copy and must not be
  /// written otherwise.
  package var isBeingMigrated: Bool {
    get { flags & Self.migrationFlag != 0 }
    set { setFlag(Self.migrationFlag, newValue) }
  }

  /// A Boolean value that indicates whether the store has incomplete indexes.
  package var hasIndexBuilds: Bool {
    get { flags & Self.indexBuildsFlag != 0 }
    set { setFlag(Self.indexBuildsFlag, newValue) }
  }

  private mutating func setFlag(_ flag: UInt8, _ isSet: Bool) {
    flags = isSet ? flags | flag : flags & ~flag
  }

  /// A Boolean value that indicates whether commits are kept in the log for followers; see
  /// ``LogReaders``.
  package var keepsLog: Bool {
    get { flags & Self.logFlag != 0 }
    set { setFlag(Self.logFlag, newValue) }
  }

  /// A Boolean value that indicates whether commits may be on the medium only in the store's journal
  /// or in the log that it shares; see ``StoreJournal``.
  package var isJournaled: Bool {
    get { flags & Self.journalFlag != 0 }
    set { setFlag(Self.journalFlag, newValue) }
  }

  /// Throws `exhausted` if there is no sequence number for another commit.
  func checkHasNext() throws(StoreError) {
    guard sequence < Self.maximumCommits else {
      throw .exhausted("The store has had 2^48 - 1 commits. Export the data into a new store.")
    }
  }

  /// Raises the minor version to that of this library.
  mutating func raiseVersion() { minorVersion = max(minorVersion, StoreFormat.minorVersion) }

  package func encoded() -> [UInt8] {
    var writer = ByteWriter(reserving: Self.size + latestCommits.bytes.count)
    writer.append(Self.magic)
    writer.append(majorVersion)
    writer.append(minorVersion)
    writer.append(Self.byteOrder)
    writer.append(flags)
    writer.append(readableGenerations)
    writer.append(pageSize)
    writer.append(modelGeneration)
    writer.append(storeID)
    writer.append(modelFingerprint.bits)
    writer.append(transactionID)
    writer.append(bootID)
    writer.append(sequence)
    writer.append(features)
    writer.appendChecksum()
    writer.append(latestCommits.bytes)
    return writer.bytes
  }

  /// Decodes a header.
  ///
  /// The layout of other major versions is unknown after the version numbers. Nevertheless, a header
  /// whose checksum would be valid with this library's version is a damaged one. Counts beyond the
  /// limits are reported as damage even if the checksum is valid.
  package init(_ bytes: UnsafeRawBufferPointer) throws(Problem) {
    var start = ByteReader(bytes)
    guard let magic = start.readBytes(Self.magic.count), magic.elementsEqual(Self.magic) else {
      throw .foreign
    }
    guard let major: UInt16 = start.read(), let minor: UInt16 = start.read(),
      let order: UInt16 = start.read()
    else { throw .damaged }
    guard order == Self.byteOrder else { throw .otherByteOrder }
    guard major == StoreFormat.majorVersion else {
      if Self.isOwn(bytes, exceptForVersion: major) { throw .damaged }
      throw major > StoreFormat.majorVersion
        ? .tooNew(major: major, minor: minor) : .tooOld(major: major, minor: minor)
    }
    guard bytes.count >= Self.size,
      var reader = ByteReader(
        checked: UnsafeRawBufferPointer(rebasing: bytes[..<Self.size])),
      reader.readBytes(start.position) != nil,
      let flags: UInt8 = reader.read(), let readable: UInt8 = reader.read(),
      let pageSize: UInt32 = reader.read(), let generation: UInt32 = reader.read(),
      let storeID = reader.readUUID(),
      let fingerprint: UInt128 = reader.read(),
      let transactionID: UInt64 = reader.read(), let bootID = reader.readUUID(),
      let sequence: UInt64 = reader.read(), let features: UInt32 = reader.read(),
      let latestCommits = LatestCommits(UnsafeRawBufferPointer(rebasing: bytes[Self.size...])),
      latestCommits.count <= sequence, generation <= Self.maximumGeneration,
      transactionID <= Self.maximumTransactions, sequence <= Self.maximumCommits
    else { throw .damaged }
    guard features & ~Self.knownFeatures == 0 else { throw .tooNew(major: major, minor: minor) }
    self.init(
      pageSize: pageSize, modelGeneration: generation, storeID: storeID,
      modelFingerprint: ModelFingerprint(bits: fingerprint), transactionID: transactionID,
      bootID: bootID, sequence: sequence, latestCommits: latestCommits)
    minorVersion = minor
    self.flags = flags
    readableGenerations = readable
    self.features = features
  }

  /// Returns whether a header with another major version has a valid checksum with this library's.
  private static func isOwn(
    _ bytes: UnsafeRawBufferPointer, exceptForVersion major: UInt16
  ) -> Bool {
    guard bytes.count >= size else { return false }
    var own = Array(bytes[..<size])
    withUnsafeBytes(of: StoreFormat.majorVersion.littleEndian) {
      own.replaceSubrange(magic.count..<magic.count + 2, with: $0)
    }
    return own.withUnsafeBytes { ByteReader(checked: $0) != nil }
  }
}
