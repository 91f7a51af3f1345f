/// Finds one value in a JSON text by its keys: one pass over what stands in front of it, without a
/// tape and without allocations.
///
/// It is for texts that `JSONEncoder` wrote, of which a predicate wants one part of each row. What
/// stands in front of the value is skipped rather than checked, and what stands behind it is not
/// looked at: of damaged bytes the result is nil, or some bytes of theirs.
package struct JSONFinder {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  /// The bytes of the value that keys lead to, from the outermost object inwards; nil where there
  /// is none.
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

  /// Moves to the value of a key of the object that starts here.
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

  /// Whether a string with its quotation marks is a key.
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

  /// Moves behind a value, by the brackets of lists and objects; false where the bytes end in it.
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

  /// Moves behind a number or a word.
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

  /// Moves behind a string with its quotation marks; false where none starts here, or none ends.
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
