internal import ArborModel
internal import ArborJSON
internal import Foundation

/// The text of a document, for locating errors in it.
///
/// One pass over the bytes records the position of every `<`, and each lookup is a binary search. A
/// document on one long line with a finding in every element thus takes O(*n* log *n*) time.
struct ModelXMLText: Sendable {
  /// A line and a column as the parser counts them, both from 1. Columns count Unicode scalars.
  struct Position: Sendable, Hashable, Comparable {
    var line: Int
    var column: Int

    static func < (left: Self, right: Self) -> Bool {
      (left.line, left.column) < (right.line, right.column)
    }
  }

  private struct Bracket: Sendable {
    let position: Position
    let offset: Int
  }

  private let bytes: [UInt8]
  private let source: String?
  /// The positions of all `<`, in order.
  private let brackets: [Bracket]

  init(_ data: Data, source: String?) {
    bytes = [UInt8](data)
    self.source = source
    var brackets: [Bracket] = []
    var position = Position(line: 1, column: 1)
    for (offset, byte) in bytes.enumerated() {
      switch byte {
      case UInt8(ascii: "\n"): position = Position(line: position.line + 1, column: 1)
      // UTF-8 continuation bytes don't count as columns.
      case 0x80...0xBF: break
      case UInt8(ascii: "<"):
        brackets.append(Bracket(position: position, offset: offset))
        position.column += 1
      default: position.column += 1
      }
    }
    self.brackets = brackets
  }

  /// Returns the location of the start of a tag. The parser reports where a tag ends. A tag doesn't
  /// contain another `<`, so it starts at the last `<` before its end.
  func start(ofTagEndingAt end: Position) -> ArborError.SourceLocation {
    location(of: bracket(ofTagEndingAt: end)?.position ?? end)
  }

  func location(of position: Position) -> ArborError.SourceLocation {
    .init(source: source, line: max(position.line, 1), column: max(position.column, 1))
  }

  func location(ofByte offset: Int, in bytes: UnsafeRawBufferPointer) -> ArborError.SourceLocation {
    JSONOrigin().location(of: offset, in: bytes, source: source)
  }

  private func bracket(ofTagEndingAt end: Position) -> Bracket? {
    var (low, high) = (0, brackets.count)
    while low < high {
      let middle = (low + high) / 2
      if brackets[middle].position < end { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? nil : brackets[low - 1]
  }

  /// Returns the names of a tag's attributes, in order.
  func attributeNames(ofTagEndingAt end: Position) -> [String] {
    guard let bracket = bracket(ofTagEndingAt: end) else { return [] }
    let close = UInt8(ascii: ">")
    var names: [String] = []
    var rest = bytes[bracket.offset...].drop { !Self.isSpace($0) && $0 != close }
    while let equals = rest.firstIndex(where: { $0 == UInt8(ascii: "=") || $0 == close }),
      rest[equals] != close
    {
      names.append(String(decoding: rest[..<equals].filter { !Self.isSpace($0) }, as: UTF8.self))
      rest = rest[(equals + 1)...].drop(while: Self.isSpace)
      guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
        return names
      }
      rest = rest.dropFirst().drop { $0 != quote }.dropFirst()
    }
    return names
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte)
  }
}
