import Foundation

/// The part of a document that is in memory: what was read and is not yet used up.
struct JSONWindow {
  private let source: JSONByteSource
  private let name: String?
  private let chunkSize: Int

  private(set) var bytes = JSONBytes(capacity: 0)
  var used = 0
  private(set) var isFinal = false
  /// Where the bytes begin in the document.
  private(set) var origin = JSONOrigin()

  init(_ source: JSONByteSource, name: String?, chunkSize: Int) {
    self.source = source
    self.name = name
    self.chunkSize = max(1, chunkSize)
  }

  /// The number of the document's bytes that are used up.
  var position: Int { origin.offset + used }

  /// Leaves a byte order mark at the beginning of the document out of the columns.
  mutating func skipByteOrderMark() { origin.skipByteOrderMark() }

  /// Drops what is used up and reads on.
  ///
  /// What is left is doubled at least: code that reads it again from its beginning each time it
  /// turns out to be cut off still takes linear time.
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
        .fileUnreadable, "\(name ?? "The document") cannot be read further. Check its source."
      ).with(underlying: error)
    }
  }
}
