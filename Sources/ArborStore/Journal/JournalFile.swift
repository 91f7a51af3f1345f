internal import ArborFoundation
internal import ArborModel
internal import CArborBits
internal import LMDB

/// An open journal, `NAME-journal` next to a store's file.
///
/// It is filled with zeros once and then overwritten in place, because appending to a file changes
/// its size, which costs a second write per sync.
final class JournalFile: Sendable {
  /// The size of a journal that ``StoreJournal`` creates, in bytes.
  static let usualSize = 8 << 20

  let path: String
  /// The file's size when it was opened, in bytes. It never changes afterwards.
  let size: Int
  private let descriptor: Int32
  let identity: FileIdentity?

  static func path(of store: String) -> String { "\(store)-journal" }

  private init(_ path: String, _ descriptor: Int32, size: Int) {
    self.path = path
    self.descriptor = descriptor
    self.size = size
    identity = FileIdentity(descriptor: descriptor)
  }

  deinit {
    // A child that another thread is starting may have a copy of the descriptor for a moment.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Whether the path still refers to the file.
  var isInPlace: Bool { identity == FileIdentity(path: path) }

  /// Opens a store's journal. Returns `nil` if there isn't one.
  ///
  /// - Throws: `journal` if the name belongs to something other than a journal; `inputOutput`.
  static func existing(
    of store: String, forReading: Bool = false
  ) throws(StoreError) -> JournalFile? {
    let path = path(of: store)
    guard let descriptor = try openDescriptor(path, forReading ? O_RDONLY : O_RDWR) else {
      return nil
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      let code = errno
      close(descriptor)
      throw .failed("fstat", path, errno: code)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw foreign(path)
    }
    let file = JournalFile(path, descriptor, size: Int(status.st_size))
    guard try file.isJournal() else { throw foreign(path) }
    return file
  }

  /// Returns whether the file is a journal, which may be damaged or not have a header yet.
  private func isJournal() throws(StoreError) -> Bool {
    let bytes = try read(JournalHeader.firstEntry, at: 0)
    let pages = [bytes[...], bytes.dropFirst(JournalHeader.pageSize)]
    return bytes.allSatisfy { $0 == 0 } || pages.contains(where: JournalHeader.isBegun)
  }

  /// Opens a file. Returns `nil` if there is no such file, which includes names that are too long.
  private static func openDescriptor(_ path: String, _ flags: Int32) throws(StoreError) -> Int32? {
    // Without O_NONBLOCK, opening a pipe would wait for its other end.
    let descriptor = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    if descriptor >= 0 { return descriptor }
    switch errno {
    case ENOENT, ENOTDIR, ENAMETOOLONG: return nil
    case EISDIR, ELOOP, ENXIO: throw foreign(path)
    case EACCES, EROFS, EPERM: throw .readOnly(path: path)
    default: throw .failed("open", path, errno: errno)
    }
  }

  private static func foreign(_ path: String) -> StoreError {
    .journal(
      ArborError(
        .notAStore,
        "\(path) has the name of a store's journal, but is something else. Move it to another folder."
      ))
  }

  /// Creates a store's journal, replacing an obsolete one.
  ///
  /// An obsolete one is replaced as a whole. If it were overwritten, a power failure could leave only
  /// its older header, which would demand a recovery.
  ///
  /// - Throws: `diskFull`, `readOnly`, `inputOutput`. In these cases, there is no journal, or the
  ///   obsolete one is unchanged.
  static func create(of store: String, size: Int) throws(StoreError) {
    let path = path(of: store)
    // Not replaced if it is a file of someone else.
    guard try existing(of: store) == nil else { return try replace(path, size: size) }
    do throws(StoreError) { try fill(path, O_CREAT | O_EXCL, size: size) } catch {
      unlink(path)
      throw error
    }
    try StoreFiles.synchronizeFolder(of: path)
  }

  private static func replace(_ path: String, size: Int) throws(StoreError) {
    UnfinishedFile.removeAbandoned(beside: path)
    let new = try storing(path: path, UnfinishedFile(beside: path))
    let temporary = new.path
    defer { StoreFiles.discard(temporary) }
    try fill(temporary, 0, size: size)
    let code = new.rename(to: path, replacing: true)
    guard code == 0 else { throw .failed("rename", path, errno: code) }
    try StoreFiles.synchronizeFolder(of: path)
  }

  /// Fills a new file with zeros and waits until they are on the medium.
  private static func fill(_ path: String, _ flags: Int32, size: Int) throws(StoreError) {
    guard let descriptor = try openDescriptor(path, O_RDWR | flags) else {
      throw .missing(path: path)
    }
    let file = JournalFile(path, descriptor, size: size)
    let zeros = [UInt8](repeating: 0, count: min(size, 1 << 20))
    // The system may keep what one call has written as a unit in its cache, and a direct write drops
    // the whole unit. So the headers, which every transaction reads, are written apart.
    var offset = 0
    while offset < min(size, JournalHeader.firstEntry) {
      try file.write(zeros[..<JournalHeader.pageSize], at: offset)
      offset += JournalHeader.pageSize
    }
    while offset < size {
      let count = min(zeros.count, size - offset)
      try file.write(zeros[..<count], at: offset)
      offset += count
    }
    try file.synchronize()
  }

  /// Removes a store's journal and waits until the removal is durable.
  static func remove(of store: String) throws(StoreError) {
    let path = path(of: store)
    guard try existing(of: store, forReading: true) != nil else { return }
    guard unlink(path) == 0 else {
      if errno == ENOENT { return }
      throw .failed("unlink", path, errno: errno)
    }
    try StoreFiles.synchronizeFolder(of: path)
  }

  // MARK: Locking

  /// Registers this process as a writer of the journal, with a shared lock. Waits while another
  /// process holds the exclusive lock, which takes only a moment.
  func lockShared() throws(StoreError) {
    while flock(descriptor, LOCK_SH) != 0 {
      if errno != EINTR { throw .failed("flock", path, errno: errno) }
    }
  }

  /// Takes the exclusive lock, which keeps other processes from writing to the journal. Returns
  /// `false` if another process has registered as a writer.
  func lockExclusively() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

  /// Whether no other process is registered as a writer of the journal.
  var isUnused: Bool {
    defer { flock(descriptor, LOCK_UN) }
    return lockExclusively()
  }

  /// Waits until no process has an entry in flight, and keeps others from submitting one; see
  /// ``JournalFlight``.
  ///
  /// - Parameters:
  ///   - exclusively: Whether to exclude others that wait, too, which needs a file open for writing.
  ///   - patience: The maximum number of seconds to wait.
  func lockFlight(exclusively: Bool, patience: Double) throws(StoreError) {
    let kind: Int32 = exclusively ? 1 : 0
    var pause: UInt32 = 20
    var waited = 0.0
    while arbor_lock_range(descriptor, kind, JournalFlight.lockedByte, 1, 0) != 0 {
      guard errno == EAGAIN || errno == EACCES || errno == EINTR else {
        throw .failed("fcntl", path, errno: errno)
      }
      guard waited < patience else { throw JournalRecovery.stuck(path, after: patience) }
      // An entry usually lands within a fraction of a millisecond.
      usleep(pause)
      waited += Double(pause) / 1_000_000
      pause = min(2 * pause, 5_000)
    }
  }

  func unlockFlight() { _ = arbor_lock_range(descriptor, 2, JournalFlight.lockedByte, 1, 0) }

  // MARK: Headers

  /// Returns the newest header, or `nil` if there isn't a valid one.
  ///
  /// - Throws: `journal` if the format is too new.
  func newestHeader() throws(StoreError) -> JournalHeader? {
    // Both in one call, because every transaction reads them.
    let bytes = try read(JournalHeader.firstEntry, at: 0)
    var newest: JournalHeader?
    for offset in [0, JournalHeader.pageSize] where offset < bytes.count {
      let (format, header) = bytes.withUnsafeBytes { bytes in
        let page = UnsafeRawBufferPointer(
          rebasing: bytes[offset..<min(offset + JournalHeader.pageSize, bytes.count)])
        return (JournalHeader.format(of: page), JournalHeader(page))
      }
      if let format, format > JournalHeader.format {
        throw .journal(
          ArborError(
            .formatTooNew,
            "The journal \(path) has format \(format), which requires a later version of the "
              + "library."))
      }
      guard let header, header.offset == offset, header.number > newest?.number ?? 0 else {
        continue
      }
      newest = header
    }
    return newest
  }

  /// Writes a header and waits until it is on the medium.
  func write(_ header: JournalHeader) throws(StoreError) {
    try write(header.encoded()[...], at: header.offset)
    try synchronize()
  }

  /// Notes in the newest header, for other processes, that a transaction is not on the medium, so that
  /// the next one makes a checkpoint.
  ///
  /// Not synced: if the machine stops before the checkpoint, the transaction was not acknowledged, and
  /// the note doesn't matter.
  func demandCheckpoint() { changeHeader { $0.isIncomplete = true } }

  /// Notes in the newest header, for other processes, that the system failed to sync the store's
  /// file.
  ///
  /// Not synced: after a restart of the machine, the store is recovered from the journal in any case.
  func noteFailedSync() { changeHeader { $0.hasFailedSync = true } }

  /// Overwrites the newest header in place. It lies within one sector, which a disk writes as a whole
  /// or not at all.
  private func changeHeader(_ body: (inout JournalHeader) -> Void) {
    guard let current = try? newestHeader() else { return }
    var changed = current
    body(&changed)
    if changed != current { try? write(changed.encoded()[...], at: changed.offset) }
  }

  // MARK: Entries

  /// What the journal has at the place of an entry.
  private enum Place {
    /// - Parameter bytes: The undivided entry.
    case entry(JournalEntry.Frame, JournalSectors.Owner, bytes: [UInt8])
    /// No entry, another one than was asked for, or one that a power failure interrupted.
    case unwritten
    case damaged
  }

  /// - Parameter isSought: Whether to read the entry that begins with a frame.
  private func place(
    at offset: Int, _ isSought: (JournalEntry.Frame) -> Bool
  ) throws(StoreError) -> Place {
    let first = try read(JournalSectors.size, at: offset)
    guard first.count == JournalSectors.size else { return .unwritten }
    let owner: JournalSectors.Owner
    switch first.withUnsafeBytes(JournalSectors.content) {
    case .zeros: return .unwritten
    case .damaged: return .damaged
    case .part(let found): owner = found
    }
    guard let frame = first.withUnsafeBytes({ JournalEntry.Frame($0) }),
      frame.transactionID == owner.transactionID, isSought(frame)
    else { return .unwritten }
    let size = JournalSectors.dividedSize(frame.length)
    guard size <= self.size - offset else { return .unwritten }
    let sectors = try read(size, at: offset)
    return sectors.withUnsafeBytes { sectors in
      var isWhole = sectors.count == size
      for start in stride(from: 0, to: sectors.count, by: JournalSectors.size) {
        let end = min(start + JournalSectors.size, sectors.count)
        switch JournalSectors.content(of: UnsafeRawBufferPointer(rebasing: sectors[start..<end])) {
        case .part(of: owner): continue
        case .part, .zeros: isWhole = false
        case .damaged: return .damaged
        }
      }
      guard isWhole else { return .unwritten }
      let bytes = JournalSectors.join(sectors, length: frame.length)
      return Checksum.of(bytes) == owner.checksum
        ? .entry(frame, owner, bytes: bytes) : .damaged
    }
  }

  private func next(
    at position: JournalPosition, epoch: UInt64
  ) throws(StoreError) -> Place {
    try place(at: position.offset) { frame in
      frame.epoch == epoch && frame.chain == position.chain
        && frame.transactionID == position.transactionID + 1
    }
  }

  /// Returns the entry at a position and the position after it, or `nil` if there is no valid one.
  func entry(
    at position: JournalPosition, epoch: UInt64
  ) throws(StoreError) -> (entry: JournalEntry, end: JournalPosition)? {
    guard case .entry(let frame, let owner, let bytes) = try next(at: position, epoch: epoch),
      let entry = bytes.withUnsafeBytes({ JournalEntry(frame, $0) })
    else { return nil }
    return (entry, position.after(length: frame.length, owner))
  }

  /// Returns whether the place of the next entry is damaged, so that it may have had one.
  func isDamaged(at position: JournalPosition, epoch: UInt64) throws(StoreError) -> Bool {
    switch try next(at: position, epoch: epoch) {
    case .entry(let frame, _, let bytes):
      return bytes.withUnsafeBytes { JournalEntry(frame, $0) } == nil
    case .unwritten: return false
    case .damaged: return true
    }
  }

  /// Moves a position past the entries up to a transaction, or past the last valid one before it.
  func advance(
    _ position: inout JournalPosition, to transaction: UInt64, epoch: UInt64
  ) throws(StoreError) {
    while position.transactionID < transaction,
      let next = try entry(at: position, epoch: epoch)
    {
      position = next.end
    }
  }

  /// Returns the transaction ID of the first valid entry of an epoch that is not reached from a
  /// position, which shows that the entries in between are damaged.
  ///
  /// An entry is written only after its predecessor is on the medium, so a power failure never
  /// leaves a valid entry after a torn one.
  func entry(behind position: JournalPosition, epoch: UInt64) throws(StoreError) -> UInt64? {
    for offset in stride(from: position.offset, to: size, by: JournalEntry.alignment) {
      let place = try place(at: offset) { frame in
        frame.epoch == epoch && frame.transactionID > position.transactionID + 1
      }
      if case .entry(let frame, _, _) = place { return frame.transactionID }
    }
    return nil
  }

  /// Returns the beginning of the entry at the first position, which is the same in every epoch, or
  /// `nil` if there is no valid entry.
  func firstFrame() throws(StoreError) -> JournalEntry.Frame? {
    guard case .entry(let frame, _, _) = try place(at: JournalHeader.firstEntry, { _ in true })
    else { return nil }
    return frame
  }

  /// Writes an entry. By default, waits until it is on the medium.
  func append(
    _ bytes: [UInt8], at position: JournalPosition, syncs: Bool = true
  ) throws(StoreError) {
    try write(bytes[...], at: position.offset)
    if syncs { try synchronize() }
  }

  /// Erases the first entry if its transaction is later than a committed one, and waits until that is
  /// on the medium. Such an entry, whose transaction was never committed, would look to a recovery
  /// like one that follows a lost header.
  func eraseFirstEntry(after transactionID: UInt64) throws(StoreError) {
    guard let frame = try firstFrame(), frame.transactionID > transactionID else { return }
    try eraseEntry(at: JournalHeader.firstEntry)
    try synchronize()
  }

  /// Overwrites the first sector of an entry with zeros, if there is one. Not synced.
  func eraseEntry(at offset: Int) throws(StoreError) {
    guard offset + JournalSectors.size <= size else { return }
    try write([UInt8](repeating: 0, count: JournalSectors.size)[...], at: offset)
  }

  /// Waits until everything that was written is on the medium.
  func synchronize() throws(StoreError) {
    guard arbor_flush(descriptor) == 0 else { throw .failed("fdatasync", path, errno: errno) }
  }

  // MARK: Bytes

  /// Returns up to `count` bytes, fewer at the end of the file.
  private func read(_ count: Int, at offset: Int) throws(StoreError) -> [UInt8] {
    var failure: Int32 = 0
    // The array is initialized up to the number of bytes that the system has read.
    let bytes = [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, initialized in
      while initialized < buffer.count {
        let result = pread(
          descriptor, buffer.baseAddress.map { $0 + initialized }, buffer.count - initialized,
          off_t(offset + initialized))
        if result < 0, errno == EINTR { continue }
        if result < 0 { failure = errno }
        if result <= 0 { return }
        initialized += result
      }
    }
    if failure != 0 { throw .failed("pread", path, errno: failure) }
    return bytes
  }

  private func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(StoreError) {
    let failure = bytes.withUnsafeBytes { buffer -> Int32 in
      var done = 0
      while done < buffer.count {
        let result = pwrite(
          descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done,
          off_t(offset + done))
        if result < 0, errno == EINTR { continue }
        if result < 0 { return errno }
        done += result
      }
      return 0
    }
    if failure != 0 { throw .failed("pwrite", path, errno: failure) }
  }
}
