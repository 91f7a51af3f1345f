import Foundation

/// The part of a document that is in memory: what was read and is not yet used up.
struct JSONWindow {
  private let source: JSONByteSource
  private let name: String?
  private let chunkSize: Int

  private(set) var bytes = Data()
  /// How many of the bytes are used up.
  var used = 0
  /// Whether no more bytes follow.
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

  /// Drops what is used up and reads on.
  ///
  /// What is left is doubled at least: whoever reads it again from its beginning each time it turns
  /// out to be cut off still takes linear time.
  mutating func refill() throws(ArborError) {
    let rest = bytes.dropFirst(used)
    bytes.withUnsafeBytes { origin.advance(over: UnsafeRawBufferPointer(rebasing: $0[..<used])) }
    used = 0
    guard !rest.isEmpty else {
      bytes = try read(chunkSize)
      return
    }
    let wanted = max(chunkSize, rest.count)
    var joined = Data(capacity: rest.count + wanted)
    joined.append(rest)
    while joined.count < rest.count * 2, !isFinal {
      joined.append(try read(wanted))
      guard joined.count < UInt32.max else {
        throw ArborError(
          .limitExceeded, "One element of the document needs more than 4 GiB; split it.")
      }
    }
    bytes = joined
  }

  private mutating func read(_ count: Int) throws(ArborError) -> Data {
    do {
      let read = try source.read(count)
      isFinal = read.isEmpty
      return read
    } catch {
      throw ArborError(
        .fileUnreadable, "\(name ?? "The document") cannot be read on; check where it comes from."
      ).with(underlying: error)
    }
  }
}
