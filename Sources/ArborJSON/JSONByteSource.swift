package import ArborFoundation

/// A source that delivers the bytes of a document in chunks.
///
/// ```swift
/// var reader = JSONItemReader(try .file(url), named: url.path, layout: .lines)
/// ```
package struct JSONByteSource {
  /// A closure that returns the next bytes, approximately the requested number or fewer, and no
  /// bytes at the end.
  let read: (_ count: Int) throws -> Data
  /// The total number of bytes if known, for reporting progress.
  package let size: Int?

  /// Creates a source that reads from a closure.
  ///
  /// - Parameters:
  ///   - size: The total number of bytes, if known.
  ///   - read: A closure that returns the next bytes, approximately the requested number or fewer,
  ///     and no bytes at the end.
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

  /// Creates a source that reads a file.
  ///
  /// - Throws: ``ArborError`` `fileUnreadable` if the file cannot be opened.
  package static func file(_ url: URL) throws(ArborError) -> JSONByteSource {
    do {
      let file = try OpenFile(url.path, O_RDONLY)
      return JSONByteSource(size: file.size, read: file.bytes(upTo:))
    } catch {
      throw ArborError(
        .fileUnreadable, "The file \(url.path) cannot be read. Check its name and permissions."
      ).with(underlying: error)
    }
  }
}
