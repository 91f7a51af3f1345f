/// Finds one value in JSON text by its keys, in one pass over the preceding text and without a tape
/// or allocations.
///
/// Intended for text written by `JSONEncoder` of which a predicate needs one value per row. Text
/// before the value is skipped without validation, and text after it isn't read. For corrupt text
/// the result is `nil` or arbitrary bytes of it.
package struct JSONFinder {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  /// Returns the bytes of the value at a path of keys, outermost first, or `nil` if it doesn't
  /// exist.
  package static func find(
    _ keys: [[UInt8]], in bytes: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer? {
    var finder = JSONFinder(bytes: bytes)
    for key in keys {
      guard finder.enter(key) else { return nil }
    }
    finder.skipSpace()
    let start = finder.position
    guard finder.skipValue() else { return nil }
    return UnsafeRawBufferPointer(rebasing: bytes[start..<finder.position])
  }

  /// Advances to the value of a key of the object at the current position. Returns `false` if there
  /// is no such object or key.
  private mutating func enter(_ key: [UInt8]) -> Bool {
    skipSpace()
    guard skip(UInt8(ascii: "{")) else { return false }
    while true {
      skipSpace()
      let start = position
      guard skipString() else { return false }
      let isWanted = isKey(start..<position, key)
      skipSpace()
      guard skip(UInt8(ascii: ":")) else { return false }
      if isWanted { return true }
      skipSpace()
      guard skipValue() else { return false }
      skipSpace()
      guard skip(UInt8(ascii: ",")) else { return false }
    }
  }

  /// Returns whether a string, given with its quotation marks, equals a key.
  private func isKey(_ range: Range<Int>, _ key: [UInt8]) -> Bool {
    let text = bytes[(range.lowerBound + 1)..<(range.upperBound - 1)]
    if key.withUnsafeBytes({ JSONKeyBytes.areEqual(UnsafeRawBufferPointer(rebasing: text), $0) }) {
      return true
    }
    guard text.contains(UInt8(ascii: "\\")) else { return false }
    let written = JSONScanner.text(UnsafeRawBufferPointer(rebasing: bytes[range]))
    return written.map { $0.utf8.elementsEqual(key) } ?? false
  }

  // MARK: Skipping

  /// Advances past a value by matching brackets. Returns `false` if the text ends within it.
  private mutating func skipValue() -> Bool {
    var depth = 0
    repeat {
      guard position < bytes.count else { return false }
      switch bytes[position] {
      case UInt8(ascii: "\""): guard skipString() else { return false }
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        position += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard depth > 0 else { return false }
        depth -= 1
        position += 1
      case UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 0x0A, 0x0D, 0x09:
        guard depth > 0 else { return false }
        position += 1
      default: skipWord()
      }
    } while depth > 0
    return true
  }

  private mutating func skipWord() {
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "}"), UInt8(ascii: "]"),
        UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""), 0x20, 0x0A, 0x0D, 0x09:
        return
      default: position += 1
      }
    }
  }

  /// Advances past a quoted string. Returns `false` if there isn't one or it is unterminated.
  private mutating func skipString() -> Bool {
    guard skip(UInt8(ascii: "\"")) else { return false }
    while position < bytes.count {
      let byte = bytes[position]
      position += byte == UInt8(ascii: "\\") ? 2 : 1
      if byte == UInt8(ascii: "\"") { return true }
    }
    return false
  }

  private mutating func skip(_ byte: UInt8) -> Bool {
    guard position < bytes.count, bytes[position] == byte else { return false }
    position += 1
    return true
  }

  private mutating func skipSpace() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position += 1
      default: return
      }
    }
  }
}
