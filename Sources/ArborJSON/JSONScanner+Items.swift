/// Scanning a window of a document: item by item, as far as the window reaches.
///
/// Nothing that touches the window's end is believed unless the document ends there too. Such an
/// item is given back as if it had not been read, and is read again when the window holds more.
extension JSONScanner {
  enum Stop {
    /// As many items were read as were asked for.
    case filled
    /// The list or object has ended.
    case closed
    /// The window ends within the next item or in front of it.
    case cut
  }

  /// How many bytes beyond its position the scanner looks at most: two `\uXXXX` follow each other.
  private static let lookahead = 16

  /// Reads elements of a list, or members of an object, of which the opening bracket has been read.
  ///
  /// - Parameters:
  ///   - maximum: How many elements to read at most.
  ///   - isObject: Whether they are members of an object.
  ///   - isContinued: Whether elements were read before.
  ///   - isFinal: Whether the document ends where the window does.
  mutating func scanElements(
    upTo maximum: Int, ofObject isObject: Bool, isContinued: Bool, isFinal: Bool
  ) throws(JSONFault) -> Stop {
    beginRoot(isObject: isObject, isContinued: isContinued)
    var count = 0
    while count < maximum {
      let hasElement = try attempt(isFinal: isFinal) { scanner throws(JSONFault) in
        guard try scanner.advance() else { return false }
        try scanner.scanItem()
        return true
      }
      guard let hasElement else {
        endRoot(count: count)
        return .cut
      }
      guard hasElement else { return .closed }
      count += 1
    }
    endRoot(count: count)
    return .filled
  }

  /// Reads one member of an object, or one element of a list, of which the opening bracket has been
  /// read, but stops in front of the parts of its value where the caller wants to read them.
  ///
  /// - Parameter stops: Whether to stop behind the first character of a value; nil for the key of an
  ///   element.
  /// - Returns: Whether there was a part; nil where the window cuts it off.
  mutating func scanPart(
    ofObject isObject: Bool, isContinued: Bool, isFinal: Bool,
    stops: (_ key: String?, _ first: UInt8) -> Bool
  ) throws(JSONFault) -> Bool? {
    beginRoot(isObject: isObject, isContinued: isContinued)
    return try attempt(isFinal: isFinal) { scanner throws(JSONFault) in
      guard try scanner.advance() else { return false }
      let key = isObject ? scanner.tape.text(of: scanner.stack[0].key, in: scanner.bytes) : nil
      if scanner.position < scanner.bytes.count, stops(key, scanner.bytes[scanner.position]) {
        scanner.position += 1
      } else {
        try scanner.scanItem()
      }
      scanner.endRoot(count: 1)
      return true
    }
  }

  /// Reads the one value of a document; false where the window cuts it off.
  mutating func scanOnly(isFinal: Bool) throws(JSONFault) -> Bool {
    try attempt(isFinal: isFinal) { scanner throws(JSONFault) in
      try scanner.scanItem()
      return true
    } ?? false
  }

  /// Reads lines, each of which holds one value or only white space.
  mutating func scanLines(upTo maximum: Int, isFinal: Bool) throws(JSONFault) -> Stop {
    let window = bytes
    defer { bytes = window }
    tape.entries.removeAll(keepingCapacity: true)
    append(.array, from: position)
    var count = 0
    while count < maximum {
      let lineEnd = Self.lineEnd(in: window, from: position)
      skipSpace(to: lineEnd)
      guard lineEnd < window.count || isFinal else {
        guard window.count - position <= limits.size else { throw itemTooLarge(at: position) }
        endRoot(count: count)
        return .cut
      }
      if position < lineEnd {
        bytes = UnsafeRawBufferPointer(rebasing: window[..<lineEnd])
        try scanItem()
        skipSpace()
        guard position == lineEnd else { throw JSONFault(.trailingContent, at: position) }
        bytes = window
        count += 1
      } else if lineEnd == window.count {
        endRoot(count: count)
        return .closed
      }
      position = min(lineEnd + 1, window.count)
    }
    endRoot(count: count)
    return .filled
  }

  /// The offset of the first line feed, or the end: eight bytes at a time.
  private static func lineEnd(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    var position = start
    while position + 8 <= bytes.count {
      // Sound: eight bytes from `position` lie inside the buffer.
      let word = UInt64(
        littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
      // A byte that is zero borrows into its high bit; the lowest such bit is never a false one.
      let others = word ^ (ones &* 0x0A)
      let found = (others &- ones) & ~others & (ones &* 0x80)
      guard found == 0 else { return position + found.trailingZeroBitCount / 8 }
      position += 8
    }
    while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
    return position
  }

  /// Puts the list or object around the items on stack and tape.
  private mutating func beginRoot(isObject: Bool, isContinued: Bool) {
    stack = [Frame(entry: 0, isObject: isObject, isContinued: isContinued)]
    tape.entries.removeAll(keepingCapacity: true)
    append(isObject ? .object : .array, from: position)
  }

  /// Notes how many items stand on the tape; a list or object that has ended does so by itself.
  private mutating func endRoot(count: Int) {
    tape.entries[0].next = UInt32(tape.entries.count)
    tape.entries[0].extent = UInt32(count)
  }

  /// Reads one value with all its parts.
  private mutating func scanItem() throws(JSONFault) {
    let depth = stack.count
    itemStart = position
    try scanValue()
    while stack.count > depth { try scanPart() }
    guard position - itemStart <= limits.size else { throw itemTooLarge(at: itemStart) }
  }

  /// Reads something that the window may cut off: then it gives nil, and nothing has been read.
  private mutating func attempt(
    isFinal: Bool, _ body: (inout JSONScanner) throws(JSONFault) -> Bool
  ) throws(JSONFault) -> Bool? {
    skipSpace()
    let start = position
    let count = tape.entries.count
    let outermost = stack.first
    itemStart = start
    do throws(JSONFault) {
      let found = try body(&self)
      // A number that ends where the window does may go on.
      let isCut = position == bytes.count && tape.entries[tape.entries.count - 1].kind == .number
      if isFinal || !isCut { return found }
    } catch {
      if isFinal || position + Self.lookahead <= bytes.count { throw error }
      guard bytes.count - itemStart <= limits.size else { throw itemTooLarge(at: itemStart) }
    }
    position = start
    tape.entries.removeSubrange(count...)
    stack.removeAll(keepingCapacity: true)
    if let outermost { stack.append(outermost) }
    return .none
  }

  private func itemTooLarge(at offset: Int) -> JSONFault {
    JSONFault(.itemTooLarge(limit: limits.size), at: offset)
  }
}
