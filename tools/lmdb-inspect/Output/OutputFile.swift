import Foundation
import LMDB

/// An output file. It gets its name only once it is complete.
final class OutputFile {
  let path: String
  private let replaces: Bool?
  private let staged: UnfinishedFile
  private let descriptor: Int32

  /// Creates the file under a temporary name.
  ///
  /// - Parameters:
  ///   - replaces: Whether an existing file is replaced; `nil` if the verb never replaces one.
  ///   - source: The inspected file, which is never replaced.
  init(_ path: String, replaces: Bool? = nil, source: String) throws {
    try Self.refuseToReplace(path, replaces, source: source)
    self.path = path
    self.replaces = replaces
    UnfinishedFile.removeAbandoned(beside: path)
    do { staged = try UnfinishedFile(beside: path) } catch { throw InspectError(error, on: path) }
    descriptor = open(staged.path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.failure(path, errno) }
  }

  deinit {
    close(descriptor)
    // Removes an incomplete file; a complete one has another name.
    unlink(staged.path)
  }

  func write(_ bytes: [UInt8]) throws(InspectError) {
    guard let reason = StandardStream.write(bytes, to: descriptor) else { return }
    throw InspectError.unwritable("\(path) cannot be written: \(reason). It was not created.")
  }

  /// Completes the file.
  func finish() throws {
    guard fsync(descriptor) == 0 else { throw Self.failure(path, errno) }
    let code = staged.rename(to: path, replacing: replaces ?? false)
    if code == EEXIST { throw InspectError.occupied(path, canReplace: replaces != nil) }
    guard code == 0 else { throw Self.failure(path, code) }
  }

  private static func failure(_ path: String, _ code: Int32) -> InspectError {
    .unwritable("\(path) cannot be written: \(String(cString: strerror(code))).")
  }

  private static func refuseToReplace(
    _ path: String, _ replaces: Bool?, source: String
  ) throws {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard replaces == true else {
      throw InspectError.occupied(path, canReplace: replaces != nil)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw InspectError.notFound("\(path) is not a regular file. Choose another path.")
    }
    for used in [source, source + "/data.mdb", source + "-lock"] {
      var other = stat()
      guard stat(used, &other) == 0, other.st_ino == status.st_ino, other.st_dev == status.st_dev
      else { continue }
      throw InspectError.notFound("\(path) belongs to the file being read. Choose another path.")
    }
  }
}
