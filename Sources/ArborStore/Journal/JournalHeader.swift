internal import ArborFoundation
internal import ArborModel
internal import LMDB

/// A position in a journal: the end of an entry, or the beginning of an epoch.
struct JournalPosition: Sendable, Hashable {
  /// The offset of the next entry.
  var offset: Int
  /// The checksum of the last entry, which the next one repeats.
  var chain: UInt32
  /// The ID of the transaction of the last entry, or of the checkpoint.
  var transactionID: UInt64

  /// Returns the position after an entry at this position.
  ///
  /// - Parameter length: The length of the undivided entry.
  func after(length: Int, _ owner: JournalSectors.Owner) -> JournalPosition {
    JournalPosition(
      offset: offset + JournalEntry.paddedSize(JournalSectors.dividedSize(length)),
      chain: owner.checksum, transactionID: owner.transactionID)
  }
}

/// One of the two headers of a journal: the checkpoint that its entries follow.
///
/// ```
///  0          8          10     12          16             20          36        52
/// ┌──────────┬──────────┬──────┬───────────┬──────────────┬───────────┬─────────┬──────────┐
/// │magic     │format u16│flags │size u32   │file size u32 │store UUID │boot UUID│number u64│
/// └──────────┴──────────┴──────┴───────────┴──────────────┴───────────┴─────────┴──────────┘
///  60         68                                                                220
/// ┌──────────┬─────────────────────────────────────────────────────────────────┬───────────┐
/// │epoch u64 │LMDB's root page of the checkpoint, 152 bytes                     │crc32c u32 │
/// └──────────┴─────────────────────────────────────────────────────────────────┴───────────┘
/// ```
///
/// The flags are a u16; 1 if the commits since the checkpoint are in a shared log, 2 if the journal has
/// ended: the store's file is complete, and no entries follow; 4 if a transaction that may have been
/// committed is not on the medium, so that a checkpoint must follow; 8 if the system failed to sync
/// the store's file, so that it has to be recovered from the journal; 16 if entries are written while
/// LMDB commits.
///
/// The headers are on pages 0 and 1 of 4,096 bytes, the header with an odd number on page 1, so
/// that a torn write leaves the other one. The entries of the epoch begin at ``firstEntry``.
struct JournalHeader: Sendable, Hashable {
  static let magic: [UInt8] = Array("ArborJnl".utf8)
  static let format: UInt16 = 4
  private static let sharedFlag: UInt16 = 1
  private static let endedFlag: UInt16 = 2
  private static let incompleteFlag: UInt16 = 4
  private static let failedFlag: UInt16 = 8
  private static let overlapsFlag: UInt16 = 16
  static let pageSize = 4096
  static let size = 224
  /// The offset of the first entry of every epoch.
  static let firstEntry = 2 * pageSize

  /// The size of the journal, so that a truncated one is recognized.
  let fileSize: Int
  let storeID: UUID
  /// The boot ID of the machine when the header was written. After another boot, the store's file
  /// may be in any state.
  let bootID: UUID
  /// The header's number, which increases with every checkpoint.
  let number: UInt64
  /// A random number that all entries after the checkpoint repeat.
  let epoch: UInt64
  /// The root page of the checkpoint.
  let root: RootImage
  /// Whether the commits since the checkpoint are in a shared log.
  let isShared: Bool
  /// Whether the whole state of the store is in its file.
  let isEnded: Bool
  /// Whether a transaction that may have been committed is not on the medium.
  var isIncomplete = false
  /// Whether the system failed to sync the store's file. It may have dropped pages of commits that
  /// are now only in the journal, so nothing is committed until the store is recovered.
  var hasFailedSync = false
  /// Whether the process that wrote the header writes entries while LMDB commits.
  var overlaps = false

  /// The position of the first entry.
  var start: JournalPosition {
    JournalPosition(
      offset: Self.firstEntry, chain: UInt32(truncatingIfNeeded: epoch),
      transactionID: root.transactionID)
  }

  /// The offset at which the header is stored.
  var offset: Int { Int(number & 1) * Self.pageSize }

  func encoded() -> [UInt8] {
    var writer = ByteWriter(reserving: Self.size)
    writer.append(Self.magic)
    writer.append(Self.format)
    writer.append(
      (isShared ? Self.sharedFlag : 0) | (isEnded ? Self.endedFlag : 0)
        | (isIncomplete ? Self.incompleteFlag : 0) | (hasFailedSync ? Self.failedFlag : 0)
        | (overlaps ? Self.overlapsFlag : 0))
    writer.append(UInt32(Self.size))
    writer.append(UInt32(clamping: fileSize))
    writer.append(storeID)
    writer.append(bootID)
    writer.append(number)
    writer.append(epoch)
    writer.append(root.bytes)
    writer.appendChecksum()
    return writer.bytes
  }

  init(
    fileSize: Int, storeID: UUID, number: UInt64, root: RootImage, isShared: Bool,
    isEnded: Bool = false, overlaps: Bool = false
  ) {
    self.fileSize = fileSize
    self.storeID = storeID
    bootID = StoreHeader.bootID
    self.number = number
    epoch = .random(in: 1...(.max))
    self.root = root
    self.isShared = isShared
    self.isEnded = isEnded
    self.overlaps = overlaps
  }

  /// Returns whether bytes begin like a header, which may be damaged.
  static func isBegun(in bytes: some Collection<UInt8>) -> Bool { bytes.starts(with: Self.magic) }

  /// Returns the format of an undamaged header, or `nil` for other bytes. Works for later formats,
  /// too: their headers begin with the same fields, and end with a checksum.
  ///
  /// - Parameter page: The whole page of the header.
  static func format(of page: UnsafeRawBufferPointer) -> UInt16? {
    var reader = ByteReader(page)
    guard let magic = reader.readBytes(Self.magic.count), magic.elementsEqual(Self.magic),
      let format: UInt16 = reader.read(), reader.readBytes(2) != nil,
      let size: UInt32 = reader.read(), size <= page.count,
      ByteReader(checked: UnsafeRawBufferPointer(rebasing: page[..<Int(size)])) != nil
    else { return nil }
    return format
  }

  /// Decodes a header. Returns `nil` for other bytes: an unused page, or a torn or damaged one.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.size, Self.format(of: bytes) == Self.format,
      var reader = ByteReader(checked: UnsafeRawBufferPointer(rebasing: bytes[..<Self.size])),
      reader.readBytes(10) != nil, let flags: UInt16 = reader.read(),
      reader.readBytes(4) != nil, let fileSize: UInt32 = reader.read(),
      let storeID = reader.readUUID(), let bootID = reader.readUUID(),
      let number: UInt64 = reader.read(), let epoch: UInt64 = reader.read(),
      let image = reader.readBytes(RootImage.size), let root = RootImage(Array(image))
    else { return nil }
    self.fileSize = Int(fileSize)
    self.storeID = storeID
    self.bootID = bootID
    self.number = number
    self.epoch = epoch
    self.root = root
    isShared = flags & Self.sharedFlag != 0
    isEnded = flags & Self.endedFlag != 0
    isIncomplete = flags & Self.incompleteFlag != 0
    hasFailedSync = flags & Self.failedFlag != 0
    overlaps = flags & Self.overlapsFlag != 0
  }
}
