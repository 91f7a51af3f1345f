/// Where a piece of a document begins in the whole, so that places in the piece are told as places
/// in the whole.
struct JSONOrigin: Sendable {
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
  /// The path of the piece's root.
  var path = JSONPath()
  var root = Root.value

  /// Moves the origin behind some bytes of the piece.
  ///
  /// Columns count Unicode scalars: they can be added up over pieces, whatever stands at a seam.
  mutating func advance(over bytes: UnsafeRawBufferPointer) {
    offset += bytes.count
    var lineStart = 0
    if let lineEnd = bytes.lastIndex(of: UInt8(ascii: "\n")) {
      lineStart = lineEnd + 1
      line += Self.count(bytes[..<lineStart]) { $0 == UInt8(ascii: "\n") }
      column = 0
    }
    column += Self.count(bytes[lineStart...]) { $0 & 0xC0 != 0x80 }
  }

  @inline(__always)
  private static func count(
    _ bytes: UnsafeRawBufferPointer.SubSequence, where isCounted: (UInt8) -> Bool
  ) -> Int {
    let bytes = UnsafeRawBufferPointer(rebasing: bytes)
    var count = 0
    for byte in bytes { count &+= isCounted(byte) ? 1 : 0 }
    return count
  }

  /// The place of a byte of the piece.
  func location(
    of offset: Int, in bytes: UnsafeRawBufferPointer, source: String?
  ) -> ArborError.SourceLocation {
    var place = self
    place.advance(over: UnsafeRawBufferPointer(rebasing: bytes[..<min(offset, bytes.count)]))
    return ArborError.SourceLocation(source: source, line: place.line, column: place.column + 1)
  }
}
