internal import ArborLocks
internal import Foundation

/// A small JSON file of the user.
struct UserFile: Hashable, Sendable {
  private static let largest = 1 << 20
  /// Held while a file is read and replaced, since requests of the page run on several threads.
  private static let changes = Lock(())

  /// The file's path, or `nil` if the user has no folder for it.
  let path: String?
  /// The advice for a user without a folder.
  let advice: String

  /// Returns the contents, or `nil` if the file doesn't exist.
  func contents<Value: Decodable>(_ type: Value.Type) throws(UserFileError) -> Value? {
    guard let path else { return nil }
    // A pipe would block.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw .unusable(path, String(cString: strerror(errno)))
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw .unusable(path, "it is not a regular file")
    }
    guard status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
      throw .unusable(path, "other users can change it")
    }
    guard status.st_size <= Self.largest, let data = try? handle.readToEnd() ?? Data(),
      data.count <= Self.largest
    else { throw .unusable(path, "it is too large") }
    guard let value = try? JSONDecoder().decode(type, from: data) else {
      throw .unusable(path, "its contents are not valid")
    }
    return value
  }

  /// Changes the contents. The replacement is atomic.
  func change<Value: Codable>(
    _ empty: Value, _ change: (inout Value) -> Void
  ) throws(UserFileError) {
    guard let path else { throw UserFileError(message: advice, isOfWriting: true) }
    try Self.changes.withLock { _ throws(UserFileError) in
      var value = try contents(Value.self) ?? empty
      change(&value)
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      guard let data = try? encoder.encode(value) else {
        throw .unwritable(path, "its contents cannot be encoded as JSON")
      }
      guard data.count < Self.largest else {
        throw .unwritable(path, "it would exceed 1 MiB. Remove queries that you don't need")
      }
      try Self.replace(path, with: data + [UInt8(ascii: "\n")])
    }
  }

  func remove() throws(UserFileError) {
    guard let path, unlink(path) != 0, errno != ENOENT else { return }
    throw UserFileError(
      message: "\(path) cannot be removed: \(String(cString: strerror(errno))).",
      isOfWriting: true)
  }

  /// Replaces a file, or creates it with its folders, for the user only.
  private static func replace(_ path: String, with data: Data) throws(UserFileError) {
    let folder = URL(filePath: path).deletingLastPathComponent()
    try? FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let staged = "\(path).new-\(UUID().uuidString.prefix(8))"
    let descriptor = open(staged, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .unwritable(path, String(cString: strerror(errno))) }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    // Removes an incomplete file; a complete one has another name.
    defer { unlink(staged) }
    do {
      try handle.write(contentsOf: data)
      try handle.synchronize()
    } catch { throw .unwritable(path, "the disk may be full") }
    guard rename(staged, path) == 0 else {
      throw .unwritable(path, String(cString: strerror(errno)))
    }
  }
}

/// A file of the user that cannot be read or written.
package struct UserFileError: Error, CustomStringConvertible {
  package let message: String
  package let isOfWriting: Bool
  package var description: String { message }

  static func unusable(_ path: String, _ reason: String) -> UserFileError {
    UserFileError(
      message: "\(path) cannot be used: \(reason). Correct or remove the file.", isOfWriting: false)
  }

  static func unwritable(_ path: String, _ reason: String) -> UserFileError {
    UserFileError(message: "\(path) cannot be written: \(reason).", isOfWriting: true)
  }
}
