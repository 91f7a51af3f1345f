import ArborFoundation

/// The part of a document that is in memory: the bytes that have been read but not yet consumed.
struct JSONWindow {
  private let source: JSONByteSource
  private let name: String?
  private let chunkSize: Int

  private(set) var bytes = JSONBytes(capacity: 0)
  var used = 0
  private(set) var isFinal = false
  /// The position of the bytes in the document.
  private(set) var origin = JSONOrigin()

  init(_ source: JSONByteSource, name: String?, chunkSize: Int) {
    self.source = source
    self.name = name
    self.chunkSize = max(1, chunkSize)
  }

  /// The number of bytes of the document that have been consumed.
  var position: Int { origin.offset + used }

  /// Excludes a byte order mark at the start of the document from the columns.
  mutating func skipByteOrderMark() { origin.skipByteOrderMark() }

  /// Discards the consumed bytes and reads more.
  ///
  /// At least doubles the remaining bytes, so that code that rescans a cut-off item from its start
  /// takes linear time overall.
  mutating func refill() throws(ArborError) {
    let old = bytes
    let rest = old.count - used
    var parts: [Data] = []
    var count = 0
    repeat {
      let part = try read(max(chunkSize, rest))
      parts.append(part)
      count += part.count
      guard rest + count < UInt32.max else {
        throw ArborError(
          .limitExceeded, "An element of the document needs more than 4 GiB. Split it.")
      }
    } while count < rest && !isFinal
    let new = JSONBytes(capacity: rest + count)
    old.withBuffer { buffer in
      origin.advance(over: UnsafeRawBufferPointer(rebasing: buffer[..<used]))
      new.append(UnsafeRawBufferPointer(rebasing: buffer[used...]))
    }
    for part in parts { new.append(part) }
    bytes = new
    used = 0
  }

  private mutating func read(_ count: Int) throws(ArborError) -> Data {
    do {
      let read = try source.read(count)
      isFinal = read.isEmpty
      return read
    } catch {
      throw ArborError(
        .fileUnreadable, "\(name ?? "The document") could not be read completely. Check its source."
      ).with(underlying: error)
    }
  }
}
