package import ArborModel
package import Foundation

/// The record that every commit rewrites: what the file is, whose it is, who wrote it last, and
/// what the newest commits did.
///
/// ```
///  0         8        10       12           14       16         20          24          40
/// ┌─────────┬────────┬────────┬────────────┬────────┬──────────┬───────────┬───────────┐
/// │magic    │major   │minor   │byte order  │flags u8│page size │generation │store UUID │
/// │8 bytes  │u16     │u16     │u16 = 0x0102│back u8 │u32       │u32        │16 bytes   │
/// └─────────┴────────┴────────┴────────────┴────────┴──────────┴───────────┴───────────┘
///  40              56               64          80               88         92
/// ┌───────────────┬────────────────┬───────────┬────────────────┬──────────┐
/// │model          │LMDB            │boot ID    │commit          │crc32c    │
/// │fingerprint 16 │transaction u64 │16 bytes   │sequence u64    │u32       │
/// └───────────────┴────────────────┴───────────┴────────────────┴──────────┘
/// ```
///
/// Behind it lie the ``LatestCommits``. It is in the unnamed database, whose page every
/// commit writes in any case.
///
/// The transaction equals the one that LMDB's root page names, or somebody else wrote to the file.
/// The generation grows with every change of the model's fingerprint, so that a process that knows
/// an earlier one notices before it writes. *Back* tells how many generations before it may read
/// on. Of the flags 1 says that the store is being migrated in a copy, see ``MigrationMarker``, 2
/// that indexes do not have all of their entries yet, see ``IndexBuildList``, 4 that commits are
/// kept in the log, see ``LogReaders``, and 8 that the last ones may not be on the medium yet, see
/// ``SyncDeferral``.
package struct HeaderRecord: Sendable, Hashable {
  package static let magic: [UInt8] = Array("ArborDB\0".utf8)
  package static let size = 92
  /// The bytes up to the flags, which say what the file is.
  private static let markSize = 14
  private static let migrationFlag: UInt8 = 1
  private static let indexBuildsFlag: UInt8 = 2
  private static let logFlag: UInt8 = 4
  private static let unsettledFlag: UInt8 = 8
  private static let byteOrder: UInt16 = 0x0102
  /// No store counts so far; what follows can be added without a look at an overflow.
  package static let mostCommits: UInt64 = 1 << 62
  package static let mostGenerations: UInt32 = 1 << 31

  package var majorVersion = StoreFormat.majorVersion
  package var minorVersion = StoreFormat.minorVersion
  package var pageSize: UInt32
  /// What holds of the store for now; a later minor version may know more of them.
  private var flags: UInt8 = 0
  /// So many generations before ``modelGeneration`` may read on.
  package var readableGenerations: UInt8 = 0
  package var modelGeneration: UInt32
  package var storeID: UUID
  package var modelFingerprint: ModelFingerprint
  package var transactionID: UInt64
  /// The start of the machine that the last writer ran on; zero where the system does not tell.
  package var bootID: UUID
  /// Counts the commits of change sets.
  package var sequence: UInt64
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

  /// Why bytes are no header that this library can use.
  package enum Problem: Error, Hashable {
    case foreign
    case otherByteOrder
    case tooNew(major: UInt16, minor: UInt16)
    case tooOld(major: UInt16, minor: UInt16)
    case damaged
  }

  /// The beginning of the header, which tells the version.
  package var mark: [UInt8] { encoded()[..<Self.markSize] + [0, 0] }

  /// Returns whether a process that knows the model of a generation may read the store.
  package func mayBeRead(byGeneration generation: UInt32) -> Bool {
    generation <= modelGeneration && modelGeneration - generation <= UInt32(readableGenerations)
  }

  /// Begins the generation of another model, which with `leavesReaders` a process may read that
  /// reads the present one.
  mutating func beginGeneration(leavesReaders: Bool) {
    modelGeneration += 1
    readableGenerations = leavesReaders ? min(readableGenerations, .max - 1) + 1 : 0
  }

  /// Whether the store is being migrated in a copy, so that nothing else may write to it.
  package var isBeingMigrated: Bool {
    get { flags & Self.migrationFlag != 0 }
    set { setFlag(Self.migrationFlag, newValue) }
  }

  /// Whether the store has indexes that do not have all of their entries yet.
  package var hasIndexBuilds: Bool {
    get { flags & Self.indexBuildsFlag != 0 }
    set { setFlag(Self.indexBuildsFlag, newValue) }
  }

  private mutating func setFlag(_ flag: UInt8, _ isSet: Bool) {
    flags = isSet ? flags | flag : flags & ~flag
  }

  /// Whether commits are kept in the log for those who follow, see ``LogReaders``.
  package var keepsLog: Bool {
    get { flags & Self.logFlag != 0 }
    set { setFlag(Self.logFlag, newValue) }
  }

  /// Whether commits may have returned before the medium had them, see ``SyncDeferral``.
  package var isUnsettled: Bool {
    get { flags & Self.unsettledFlag != 0 }
    set { setFlag(Self.unsettledFlag, newValue) }
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
    writer.appendChecksum()
    writer.append(latestCommits.bytes)
    return writer.bytes
  }

  /// Reads a header.
  ///
  /// What another major version looks like after its version numbers is unknown, so those are
  /// validated before the checksum. Counts that no store reaches are damage whatever the checksum
  /// says.
  package init(_ bytes: UnsafeRawBufferPointer) throws(Problem) {
    var start = ByteReader(bytes)
    guard let magic = start.readBytes(Self.magic.count), magic.elementsEqual(Self.magic) else {
      throw .foreign
    }
    guard let major: UInt16 = start.read(), let minor: UInt16 = start.read(),
      let order: UInt16 = start.read()
    else { throw .damaged }
    guard order == Self.byteOrder else { throw .otherByteOrder }
    guard major <= StoreFormat.majorVersion else { throw .tooNew(major: major, minor: minor) }
    guard major == StoreFormat.majorVersion else { throw .tooOld(major: major, minor: minor) }
    guard bytes.count >= Self.size,
      var reader = ByteReader(
        checked: UnsafeRawBufferPointer(rebasing: bytes[..<Self.size])),
      reader.readBytes(start.position) != nil,
      let flags: UInt8 = reader.read(), let readable: UInt8 = reader.read(),
      let pageSize: UInt32 = reader.read(), let generation: UInt32 = reader.read(),
      let storeID = reader.readUUID(),
      let fingerprint: UInt128 = reader.read(),
      let transactionID: UInt64 = reader.read(), let bootID = reader.readUUID(),
      let sequence: UInt64 = reader.read(),
      let latestCommits = LatestCommits(UnsafeRawBufferPointer(rebasing: bytes[Self.size...])),
      latestCommits.count <= sequence, generation <= Self.mostGenerations,
      transactionID <= Self.mostCommits, sequence <= Self.mostCommits
    else { throw .damaged }
    self.init(
      pageSize: pageSize, modelGeneration: generation, storeID: storeID,
      modelFingerprint: ModelFingerprint(bits: fingerprint), transactionID: transactionID,
      bootID: bootID, sequence: sequence, latestCommits: latestCommits)
    majorVersion = major
    minorVersion = minor
    self.flags = flags
    readableGenerations = readable
  }
}
