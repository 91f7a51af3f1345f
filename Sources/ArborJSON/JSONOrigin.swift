package import ArborFoundation

/// The position of a piece within its document, for reporting locations in the whole document.
package struct JSONOrigin: Sendable {
  /// The meaning of the root of a piece's tape.
  enum Root: Sendable {
    /// The value itself.
    case value
    /// An array whose elements before this index are not in the piece.
    case elements(from: Int)
    /// A placeholder: its elements are separate documents, one per line.
    case lines
  }

  /// The byte offset of the piece.
  var offset = 0
  /// The line of the piece's first byte, counting from 1.
  var line = 1
  /// The number of characters that precede the piece on its first line.
  var column = 0
  var path = JSONPath()
  var root = Root.value

  /// Creates the origin of the start of a document.
  package init() {}

  /// Excludes a leading byte order mark from the columns, because editors don't show it.
  mutating func skipByteOrderMark() { column -= 1 }

  /// Advances the origin past some bytes of the piece.
  ///
  /// Columns count Unicode scalars, so that counts can be added across pieces, wherever they are
  /// split.
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
      // The high bit of a sum is clear only for a zero byte, and no sum carries into the next byte.
      let others = word ^ lineFeeds
      return ~((others & ~highs) &+ ~highs | others) & highs
    }
  }

  /// Returns the number of bytes that are not UTF-8 continuation bytes.
  private static func characters(in bytes: UnsafeRawBufferPointer) -> Int {
    bytes.count - count(in: bytes) { word in word & ~(word &<< 1) & highs }
  }

  /// Returns the total number of bits that a closure sets, given eight bytes at a time. It must not
  /// set any for the zero bytes that pad the last word.
  @inline(__always)
  private static func count(in bytes: UnsafeRawBufferPointer, _ marks: (UInt64) -> UInt64) -> Int {
    var count = 0
    var position = 0
    while position + 8 <= bytes.count {
      // Sound: eight bytes from `position` are inside the buffer.
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
