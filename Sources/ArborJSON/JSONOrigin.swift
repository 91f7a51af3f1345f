package import Foundation

/// Where a piece of a document begins in the whole, so that positions in the piece are told as
/// positions in the whole.
package struct JSONOrigin: Sendable {
  /// What the root of a piece's tape stands for.
  enum Root: Sendable {
    /// The value that it is.
    case value
    /// A list of which the elements before this index are not in the piece.
    case elements(from: Int)
    /// No value: its elements are documents of their own, one on each line.
    case lines
  }

  /// The number of bytes in front of the piece.
  var offset = 0
  /// The line of the piece's first byte, from 1.
  var line = 1
  /// The number of characters in front of the piece on its first line.
  var column = 0
  var path = JSONPath()
  var root = Root.value

  /// The beginning of a document.
  package init() {}

  /// Leaves a byte order mark in front of the piece out of the columns: editors do not show it.
  mutating func skipByteOrderMark() { column -= 1 }

  /// Moves the origin behind some bytes of the piece.
  ///
  /// Columns count Unicode scalars: they can be added up over pieces, whatever stands at a seam.
  mutating func advance(over bytes: UnsafeRawBufferPointer) {
    offset += bytes.count
    var lineStart = 0
    if let lineEnd = bytes.lastIndex(of: UInt8(ascii: "\n")) {
      lineStart = lineEnd + 1
      line += Self.lineEnds(in: UnsafeRawBufferPointer(rebasing: bytes[..<lineStart]))
      column = 0
    }
    column += Self.characters(in: UnsafeRawBufferPointer(rebasing: bytes[lineStart...]))
  }

  private static let highs: UInt64 = 0x8080_8080_8080_8080

  private static func lineEnds(in bytes: UnsafeRawBufferPointer) -> Int {
    let lineFeeds: UInt64 = 0x0A0A_0A0A_0A0A_0A0A
    return count(in: bytes) { word in
      // The high bit of a sum stays clear for a byte that is zero, and no sum carries over.
      let others = word ^ lineFeeds
      return ~((others & ~highs) &+ ~highs | others) & highs
    }
  }

  /// The number of bytes that do not continue a character.
  private static func characters(in bytes: UnsafeRawBufferPointer) -> Int {
    bytes.count - count(in: bytes) { word in word & ~(word &<< 1) & highs }
  }

  /// Counts the high bits that a closure leaves of each eight bytes. Bytes of zero, which fill up
  /// the last eight, must leave none.
  @inline(__always)
  private static func count(in bytes: UnsafeRawBufferPointer, _ marks: (UInt64) -> UInt64) -> Int {
    var count = 0
    var position = 0
    while position + 8 <= bytes.count {
      // Sound: eight bytes from `position` lie inside the buffer.
      count += marks(bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)).nonzeroBitCount
      position += 8
    }
    var last: UInt64 = 0
    for byte in bytes[position...] { last = last << 8 | UInt64(byte) }
    return count + marks(last).nonzeroBitCount
  }

  package func location(
    of offset: Int, in bytes: UnsafeRawBufferPointer, source: String?
  ) -> ArborError.SourceLocation {
    var current = self
    current.advance(over: UnsafeRawBufferPointer(rebasing: bytes[..<min(offset, bytes.count)]))
    return ArborError.SourceLocation(source: source, line: current.line, column: current.column + 1)
  }

  package func location(
    of offset: Int, in data: Data, source: String?
  ) -> ArborError.SourceLocation {
    data.withUnsafeBytes { location(of: offset, in: $0, source: source) }
  }
}
