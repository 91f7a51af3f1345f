/// Scans a window of a document item by item.
///
/// Results that touch the end of the window are discarded unless the document ends there too. The
/// item is then scanned again once the window contains more bytes.
extension JSONScanner {
  enum Stop {
    /// The requested number of items was read.
    case filled
    case closed
    /// The window ends within or before the next item.
    case cut
  }

  /// The maximum number of bytes that the scanner looks ahead: two consecutive `\uXXXX`.
  private static let lookahead = 16

  /// Reads elements of an array, or members of an object, whose opening bracket has been read.
  ///
  /// - Parameters:
  ///   - maximum: The maximum number of elements to read.
  ///   - isObject: Whether they are members of an object.
  ///   - isContinued: Whether elements were read before.
  ///   - isFinal: Whether the document ends at the end of the window.
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

  /// Reads one member of an object, or one element of an array, whose opening bracket has been
  /// read. Stops after the first character of a value whose parts the caller wants to read.
  ///
  /// - Parameter stops: A closure that returns whether to stop after the first character of a
  ///   value. The key is `nil` for an element.
  /// - Returns: Whether there was a part, or `nil` if the window ends within it.
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

  /// Reads the single value of a document. Returns `false` if the window ends within it.
  mutating func scanOnly(isFinal: Bool) throws(JSONFault) -> Bool {
    try attempt(isFinal: isFinal) { scanner throws(JSONFault) in
      try scanner.scanItem()
      return true
    } ?? false
  }

  /// Reads lines, each of which contains one value or only white space.
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

  /// Returns the offset of the first line feed, or the end. Examines eight bytes at a time.
  private static func lineEnd(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    var position = start
    while position + 8 <= bytes.count {
      // Sound: eight bytes from `position` are inside the buffer.
      let word = UInt64(
        littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
      // The subtraction borrows into the high bit of a zero byte; the lowest such bit is never a
      // false hit.
      let others = word ^ (ones &* 0x0A)
      let found = (others &- ones) & ~others & (ones &* 0x80)
      guard found == 0 else { return position + found.trailingZeroBitCount / 8 }
      position += 8
    }
    while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
    return position
  }

  /// Pushes the array or object that contains the items onto the stack and the tape.
  private mutating func beginRoot(isObject: Bool, isContinued: Bool) {
    stack = [Frame(entry: 0, isObject: isObject, isContinued: isContinued)]
    tape.entries.removeAll(keepingCapacity: true)
    append(isObject ? .object : .array, from: position)
  }

  /// Records the number of items on the tape. An array or object that has ended is complete
  /// already.
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

  /// Runs a scan that the window may cut off. If it does, returns `nil` and resets the scanner.
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
      // A number that ends with the window may continue.
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
