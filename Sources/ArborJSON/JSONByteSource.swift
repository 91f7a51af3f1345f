package import Foundation

/// A source that delivers the bytes of a document in chunks.
///
/// ```swift
/// var reader = JSONItemReader(try .file(url), named: url.path, layout: .lines)
/// ```
package struct JSONByteSource {
  /// Returns approximately the requested number of bytes or fewer, and no bytes at the end.
  let read: (_ count: Int) throws -> Data
  /// The total number of bytes if known, for reporting progress.
  package let size: Int?

  /// Creates a source that reads from a closure.
  ///
  /// - Parameters:
  ///   - size: The total number of bytes, if known.
  ///   - read: Returns the next bytes, at most about as many as requested, and none at the end.
  package init(size: Int? = nil, read: @escaping (_ count: Int) throws -> Data) {
    self.size = size
    self.read = read
  }

  /// Creates a source that reads bytes in memory, without copying them.
  package static func data(_ data: Data) -> JSONByteSource {
    var rest = data
    return JSONByteSource(size: data.count) { count in
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }
  }

  /// Creates a source that reads an open file or pipe from its current position.
  package static func handle(_ handle: FileHandle, size: Int? = nil) -> JSONByteSource {
    JSONByteSource(size: size) { count in try handle.read(upToCount: count) ?? Data() }
  }

  /// Creates a source that reads a file.
  ///
  /// - Throws: ``ArborError`` `fileUnreadable`.
  package static func file(_ url: URL) throws(ArborError) -> JSONByteSource {
    do {
      let handle = try FileHandle(forReadingFrom: url)
      // The size of a pipe or a device is unknown.
      let facts = try url.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey])
      return .handle(handle, size: facts.isRegularFile == true ? facts.fileSize : nil)
    } catch {
      throw ArborError(
        .fileUnreadable, "The file \(url.path) cannot be read. Check its name and permissions."
      ).with(underlying: error)
    }
  }
}
