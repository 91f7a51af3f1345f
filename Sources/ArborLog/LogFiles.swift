internal import ArborFoundation
package import ArborModel
internal import ArborStore
internal import LMDB

/// Files that are created atomically, and errors of file operations.
enum LogFiles {
  /// The suffix of files that are being written.
  private static let unfinished = ".unfinished"

  static func error(_ operation: String, _ path: String, _ code: Int32 = errno) -> ArborError {
    if code == ENOSPC || code == EDQUOT || code == EFBIG {
      return ArborError(
        .diskFull,
        "There is not enough disk space for \(path), or a file size limit was reached. "
          + "Free space or raise the limit.")
    }
    var error = ArborError(
      .inputOutput,
      "\(operation) of \(path) failed: \(String(cString: strerror(code))). Check the path and its "
        + "permissions.")
    error.underlying = POSIXErrorCode(rawValue: code).map { POSIXError($0) }
    return error
  }

  /// Opens a regular file. Returns `nil` if it doesn't exist.
  ///
  /// Opens in non-blocking mode, because a named pipe would block the caller until another process
  /// opens its other end.
  ///
  /// - Throws: ``ArborError`` `corrupted` if the path leads to anything but a regular file,
  ///   `inputOutput`.
  static func open(
    _ path: String, _ flags: Int32
  ) throws(ArborError) -> (descriptor: Int32, size: Int)? {
    let descriptor = ArborFoundation.open(path, flags | O_CLOEXEC | O_NONBLOCK, 0o666)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
      let code = errno
      if descriptor >= 0 { close(descriptor) }
      if code == ENOENT { return nil }
      // The error codes for writing to a pipe without a reader, and to a folder.
      guard code == ENXIO || code == EISDIR else { throw error("Opening", path, code) }
      throw ArborError.damagedLog(path, "it is not a regular file")
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw ArborError.damagedLog(path, "it is not a regular file")
    }
    return (descriptor, Int(status.st_size))
  }

  /// Returns the sorted names in a folder, or `nil` if it doesn't exist.
  static func names(in folder: String) throws(ArborError) -> [String]? {
    guard let directory = opendir(folder) else {
      if errno == ENOENT { return nil }
      throw error("Reading", folder)
    }
    defer { closedir(directory) }
    var names: [String] = []
    while true {
      // Only `errno` distinguishes the end of the folder from an error.
      errno = 0
      guard let entry = readdir(directory) else { break }
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    guard errno == 0 else { throw error("Reading", folder) }
    return names.sorted()
  }

  /// Returns the contents of a small file, or `nil` if it doesn't exist.
  static func contents(_ path: String) throws(ArborError) -> [UInt8]? {
    guard let file = try LogInput(path) else { return nil }
    return try file.read(from: 0, count: file.size)
  }

  static func makeFolder(_ path: String) throws(ArborError) {
    guard mkdir(path, 0o777) == 0 || errno == EEXIST else { throw error("Creation", path) }
    try synchronizeFolder(of: path)
  }

  static func synchronizeFolder(of path: String) throws(ArborError) {
    do throws(LMDBError) { try Folder.synchronize(of: path) } catch {
      throw Self.error("fsync", Folder.path(of: path), error.code ?? EIO)
    }
  }

  /// Creates a file in a folder atomically: it appears once `fill` has written it and it is
  /// durable.
  ///
  /// - Parameter fill: A closure that writes the file and returns its name, which must not exist,
  ///   or returns `nil` to create no file.
  /// - Returns: Whether a file was created.
  @discardableResult
  static func write(
    in folder: String, _ fill: (inout LogOutput) throws -> String?
  ) throws -> Bool {
    let temporary = unfinishedName("\(folder)/next")
    do {
      var output = try LogOutput(temporary)
      guard let name = try fill(&output) else {
        unlink(temporary)
        return false
      }
      try output.finish()
      try rename(temporary, to: "\(folder)/\(name)")
      return true
    } catch {
      unlink(temporary)
      throw error
    }
  }

  /// Renames a file or folder within its folder, and waits until that is durable.
  static func rename(_ path: String, to other: String) throws(ArborError) {
    guard ArborFoundation.rename(path, other) == 0 else { throw error("Renaming", path) }
    try synchronizeFolder(of: path)
  }

  /// Removes the files left in a folder by a writer that died.
  static func removeUnfinished(in folder: String) throws(ArborError) {
    for name in try names(in: folder) ?? [] where isUnfinished(name) {
      let path = "\(folder)/\(name)"
      guard unlink(path) != 0, errno == EISDIR || errno == EPERM else { continue }
      try removeFolder(path)
    }
  }

  /// Removes a folder with its files. The folders of a log have no subfolders.
  static func removeFolder(_ path: String) throws(ArborError) {
    for name in try names(in: path) ?? [] {
      guard unlink("\(path)/\(name)") == 0 || errno == ENOENT else {
        throw error("Removal", "\(path)/\(name)")
      }
    }
    guard rmdir(path) == 0 || errno == ENOENT else { throw error("Removal", path) }
  }

  static func isUnfinished(_ name: String) -> Bool { name.hasSuffix(unfinished) }

  /// Returns the name of a file or folder while it is being written.
  static func unfinishedName(_ path: String) -> String { path + unfinished }
}

extension [UInt8] {
  /// Calls `withUnsafeBytes` with a typed error.
  func withRawBytes<R, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> R
  ) throws(Failure) -> R {
    try withUnsafeBufferPointer { (bytes) throws(Failure) in
      try body(UnsafeRawBufferPointer(bytes))
    }
  }
}

/// A file that is read in pieces.
package struct LogInput: ~Copyable {
  package let path: String
  package let size: Int
  private let descriptor: Int32

  /// Returns `nil` if the file doesn't exist.
  package init?(_ path: String) throws(ArborError) {
    guard let file = try LogFiles.open(path, O_RDONLY) else { return nil }
    (descriptor, size) = (file.descriptor, file.size)
    self.path = path
  }

  deinit { close(descriptor) }

  /// Reads a range of bytes. Returns fewer at the end of the file.
  package func read(from offset: Int, count: Int) throws(ArborError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: max(0, min(count, size - offset)))
    var done = 0
    while done < bytes.count {
      let start = done
      let found = bytes.withUnsafeMutableBytes { target in
        pread(
          descriptor, target.baseAddress.map { $0 + start }, target.count - start,
          off_t(offset + start))
      }
      if found < 0, errno == EINTR { continue }
      guard found >= 0 else { throw LogFiles.error("Reading", path) }
      if found == 0 { break }
      done += found
    }
    bytes.removeLast(bytes.count - done)
    return bytes
  }
}

/// A file that is written sequentially.
package struct LogOutput: ~Copyable {
  private let descriptor: Int32
  private let path: String
  private var buffer: [UInt8] = []
  private static let bufferSize = 1 << 18

  package init(_ path: String) throws(ArborError) {
    guard let file = try LogFiles.open(path, O_WRONLY | O_CREAT | O_TRUNC) else {
      throw LogFiles.error("Creation", path, ENOENT)
    }
    descriptor = file.descriptor
    self.path = path
  }

  deinit { close(descriptor) }

  mutating func append(_ bytes: UnsafeRawBufferPointer) throws(ArborError) {
    if buffer.count + bytes.count > Self.bufferSize { try flush() }
    guard bytes.count < Self.bufferSize else { return try write(bytes) }
    buffer.append(contentsOf: bytes)
  }

  package mutating func append(_ bytes: [UInt8]) throws(ArborError) {
    try bytes.withRawBytes { (bytes) throws(ArborError) in try append(bytes) }
  }

  /// Flushes the file and waits until it is durable.
  package mutating func finish() throws(ArborError) {
    try flush()
    guard fsync(descriptor) == 0 else { throw LogFiles.error("fsync", path) }
  }

  private mutating func flush() throws(ArborError) {
    try buffer.withRawBytes { (bytes) throws(ArborError) in try write(bytes) }
    buffer.removeAll(keepingCapacity: true)
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws(ArborError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = ArborFoundation.write(descriptor, rest.baseAddress, rest.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw LogFiles.error("Writing", path, count == 0 ? ENOSPC : errno) }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }
}
