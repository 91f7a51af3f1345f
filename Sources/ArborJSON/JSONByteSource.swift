package import Foundation

/// Where the bytes of a document come from, piece by piece.
///
/// ```swift
/// var reader = JSONItemReader(try .file(url), named: url.path, layout: .lines)
/// ```
package struct JSONByteSource {
  /// Reads on: about as many bytes as asked for, fewer where they come so; none at the end.
  let read: (_ count: Int) throws -> Data
  /// The number of all bytes where it is known, for callers that show how much is left.
  package let size: Int?

  /// A source that a closure reads.
  ///
  /// - Parameters:
  ///   - size: The number of all bytes where it is known.
  ///   - read: Gives the next bytes, at most about as many as asked for, and none at the end.
  package init(size: Int? = nil, read: @escaping (_ count: Int) throws -> Data) {
    self.size = size
    self.read = read
  }

  /// Bytes in memory, which are not copied.
  package static func data(_ data: Data) -> JSONByteSource {
    var rest = data
    return JSONByteSource(size: data.count) { count in
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }
  }

  /// An open file or pipe, from where it stands.
  package static func handle(_ handle: FileHandle, size: Int? = nil) -> JSONByteSource {
    JSONByteSource(size: size) { count in try handle.read(upToCount: count) ?? Data() }
  }

  /// A file.
  ///
  /// - Throws: ``ArborError`` `fileUnreadable`.
  package static func file(_ url: URL) throws(ArborError) -> JSONByteSource {
    do {
      let handle = try FileHandle(forReadingFrom: url)
      // Of a pipe or a device nobody knows how much will come.
      let facts = try url.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey])
      return .handle(handle, size: facts.isRegularFile == true ? facts.fileSize : nil)
    } catch {
      throw ArborError(
        .fileUnreadable, "The file \(url.path) cannot be read. Check its name and permissions."
      ).with(underlying: error)
    }
  }
}
