enum Key: Equatable {
  case up, down, left, right, pageUp, pageDown, home, end, enter, escape, backspace, delete
  /// A letter with Control, in lowercase.
  case control(Character)
  /// A Unicode scalar of text. Several may form one character.
  case text(Unicode.Scalar)
}

/// Decodes keys from the bytes sent by a terminal: UTF-8, and the sequences of ECMA-48 and xterm.
struct KeyDecoder {
  private var bytes: [UInt8] = []

  /// Whether there are bytes that may be the start of a longer sequence, or the Escape key.
  var isWaiting: Bool { !bytes.isEmpty }

  mutating func add(_ more: [UInt8]) { bytes += more }

  /// Returns the next key, or `nil` if more bytes are needed. Skips bytes that belong to no key.
  ///
  /// - Parameter isComplete: Whether no more bytes of a sequence will arrive, so that a lone Escape
  ///   byte is the Escape key.
  mutating func next(isComplete: Bool) -> Key? {
    while let first = bytes.first {
      if first == 0x1B {
        switch sequence(isComplete: isComplete) {
        case .key(let key): return key
        case .nothing: continue
        case .more: return nil
        }
      }
      if first < 0x80 {
        bytes.removeFirst()
        if let key = Self.plain(first) { return key }
        continue
      }
      let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
      guard bytes.count >= length || isComplete else { return nil }
      let part = Array(bytes.prefix(length))
      if let text = String(validating: part, as: UTF8.self), let scalar = text.unicodeScalars.first
      {
        bytes.removeFirst(length)
        return .text(scalar)
      }
      bytes.removeFirst()
    }
    return nil
  }

  private enum Sequence {
    case key(Key)
    case nothing
    case more
  }

  /// Decodes a sequence that begins with Escape.
  private mutating func sequence(isComplete: Bool) -> Sequence {
    guard bytes.count > 1, bytes[1] == UInt8(ascii: "[") || bytes[1] == UInt8(ascii: "O") else {
      if bytes.count == 1, !isComplete { return .more }
      bytes.removeFirst()
      return .key(.escape)
    }
    guard let end = bytes[2...].firstIndex(where: { (0x40...0x7E).contains($0) }) else {
      guard isComplete || bytes.count > 32 else { return .more }
      bytes.removeAll()
      return .nothing
    }
    let numbers = bytes[2..<end].split(separator: UInt8(ascii: ";"))
    let final = bytes[end]
    bytes.removeSubrange(0...end)
    let key: Key? =
      switch final {
      case UInt8(ascii: "A"): .up
      case UInt8(ascii: "B"): .down
      case UInt8(ascii: "C"): .right
      case UInt8(ascii: "D"): .left
      case UInt8(ascii: "H"): .home
      case UInt8(ascii: "F"): .end
      case UInt8(ascii: "~"):
        Self.numbered(numbers.first.map { String(decoding: $0, as: UTF8.self) })
      default: nil
      }
    return key.map(Sequence.key) ?? .nothing
  }

  private static func numbered(_ number: String?) -> Key? {
    switch number {
    case "1", "7": .home
    case "3": .delete
    case "4", "8": .end
    case "5": .pageUp
    case "6": .pageDown
    default: nil
    }
  }

  private static func plain(_ byte: UInt8) -> Key? {
    switch byte {
    case 0x0A, 0x0D: .enter
    case 0x08, 0x7F: .backspace
    case 0x01...0x1A: .control(Character(UnicodeScalar(byte + 0x60)))
    case 0x20...0x7E: .text(UnicodeScalar(byte))
    default: nil
    }
  }
}
