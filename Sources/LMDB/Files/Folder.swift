#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The folder that contains a file.
package enum Folder {
  package static func path(of file: String) -> String {
    guard let slash = file.lastIndex(of: "/") else { return "." }
    return slash == file.startIndex ? "/" : String(file[..<slash])
  }

  /// Waits until the entries of a file's folder are on the medium.
  package static func synchronize(of file: String) throws(LMDBError) {
    let descriptor = open(path(of: file), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .lastSystemError }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .lastSystemError }
  }
}
