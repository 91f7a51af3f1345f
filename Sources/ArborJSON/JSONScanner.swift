/// Scans an RFC 8259 document into a tape, in one pass and without recursion.
///
/// Stricter than many parsers, so that a document cannot be interpreted in two ways: the text must
/// be valid UTF-8, the keys of an object must be unique (compared as Swift strings), and surrogates
/// must be paired.
///
/// A scanner is valid only within the caller's `withUnsafeBytes`. All accesses are below
/// `bytes.count`, which the buffer checks in debug builds.
package struct JSONScanner {
  struct Frame {
    /// The tape index of the array or object.
    var entry: Int
    var isObject: Bool
    /// Whether parts were read before those that are counted.
    var isContinued = false
    var count: UInt32 = 0
    /// The tape index of the current member's key, or 0 for none, because index 0 is the root.
    var key = 0
  }

  var bytes: UnsafeRawBufferPointer
  let limits: JSONLimits
  private let maximumCount: Int
  var position = 0
  var tape = JSONTape()
  var stack: [Frame] = []
  /// The start of the item that is being read.
  var itemStart = 0
  /// The position of the scanned text within a document that is read in pieces.
  var surroundings = Surroundings()
  /// The limit that can interrupt scanning, or `nil` for none.
  private let work: WorkLimit?
  private var partCount = 0
  /// The number of parts scanned between two checks of the limit. Scanning them takes little time
  /// even on a slow machine.
  private static let partsPerLook = 1 << 9

  /// U+FEFF in UTF-8, which some programs write before the text. RFC 8259 allows parsers to ignore
  /// it.
  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  static func hasByteOrderMark(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.starts(with: byteOrderMark)
  }

  /// Throws if a document begins like UTF-16 or UTF-32: with a byte order mark of these, or with a
  /// null byte in one of the first two characters, which are ASCII in every JSON document that
  /// contains an array or an object.
  static func checkEncoding(_ bytes: UnsafeRawBufferPointer) throws(JSONFault) {
    let isMarked = bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
    guard isMarked || bytes.prefix(2).contains(0) else { return }
    throw JSONFault(.otherEncoding, at: 0)
  }

  init(_ bytes: UnsafeRawBufferPointer, limits: JSONLimits, work: WorkLimit? = nil) {
    self.work = work
    self.bytes = bytes
    self.limits = limits
    maximumCount = min(limits.maximumCount, JSONTape.maximumCount)
  }

  /// The context of the bytes, if they are a piece of a document.
  struct Surroundings {
    /// The path of the outermost array or object on the stack.
    var path = JSONPath()
    /// The number of arrays and objects that enclose the outermost one on the stack.
    var depth = 0
    /// The number of elements of the outermost array or object that precede the piece.
    var firstIndex = 0
    /// The key of the outermost object's last member before the piece.
    var lastKey: String?
  }

  mutating func scan() throws(JSONFault) {
    guard bytes.count <= limits.size else { throw JSONFault(.tooLarge(limit: limits.size), at: 0) }
    try Self.checkEncoding(bytes)
    if Self.hasByteOrderMark(bytes) { position = Self.byteOrderMark.count }
    // Each value takes at least two bytes. Reserved pages become resident only when used, whereas a
    // tape that outgrows its capacity is in memory twice while it is copied.
    let isLarge = bytes.count > 1 << 20
    tape.entries.reserveCapacity(bytes.count / (isLarge ? 2 : 12) + 8)
    skipSpace()
    guard position < bytes.count else { throw JSONFault(.empty, at: position) }
    try scanValue()
    while !stack.isEmpty { try scanPart() }
    skipSpace()
    guard position == bytes.count else { throw JSONFault(.trailingContent, at: position) }
  }

  /// Reads a scalar, or opens an array or an object.
  mutating func scanValue() throws(JSONFault) {
    guard position < bytes.count else { throw end("a value") }
    switch bytes[position] {
    case UInt8(ascii: "{"): try open(isObject: true)
    case UInt8(ascii: "["): try open(isObject: false)
    case UInt8(ascii: "\""): try scanString()
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try scanNumber()
    case UInt8(ascii: "t"): try scanWord("true", .yes)
    case UInt8(ascii: "f"): try scanWord("false", .no)
    case UInt8(ascii: "n"): try scanWord("null", .null)
    default: throw JSONFault(.unexpectedCharacter(expected: "a value"), at: position)
    }
  }

  /// Reads the next element or member of the innermost array or object, or its end.
  mutating func scanPart() throws(JSONFault) {
    partCount &+= 1
    if partCount & (Self.partsPerLook - 1) == 0 { try lookAtLimit() }
    if try advance() { try scanValue() }
  }

  @inline(never)
  private func lookAtLimit() throws(JSONFault) {
    do throws(Interruption) { try work?.check(Self.partsPerLook) } catch {
      throw JSONFault(.interrupted(error), at: position)
    }
  }

  /// Advances to the next value of the innermost array or object. Returns `false` at its end.
  mutating func advance() throws(JSONFault) -> Bool {
    let top = stack.count - 1
    let isObject = stack[top].isObject
    let isFirst = stack[top].count == 0 && !stack[top].isContinued
    let bracket = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
    skipSpace()
    guard position < bytes.count else { throw end(isObject ? "“}”" : "“]”") }
    if bytes[position] == bracket {
      position += 1
      try close()
      return false
    }
    if !isFirst {
      guard bytes[position] == UInt8(ascii: ",") else {
        let expected = isObject ? "“,” or “}”" : "“,” or “]”"
        throw JSONFault(.unexpectedCharacter(expected: expected), at: position)
      }
      let comma = position
      position += 1
      skipSpace()
      if position < bytes.count, bytes[position] == bracket {
        throw JSONFault(.trailingComma, at: comma)
      }
    }
    // One step adds at most a key and a value.
    guard tape.entries.count + 2 <= maximumCount else {
      throw JSONFault(.tooManyValues(limit: maximumCount), at: position)
    }
    if isObject { try scanKey(frame: top) }
    stack[top].count += 1
    return true
  }

  private mutating func scanKey(frame: Int) throws(JSONFault) {
    guard position < bytes.count else { throw end("a key") }
    guard bytes[position] == UInt8(ascii: "\"") else {
      throw JSONFault(.unexpectedCharacter(expected: "a key in quotation marks"), at: position)
    }
    stack[frame].key = 0
    if frame == 0 { surroundings.lastKey = nil }
    let key = tape.entries.count
    try scanString()
    stack[frame].key = key
    skipSpace()
    guard position < bytes.count else { throw end("“:”") }
    guard bytes[position] == UInt8(ascii: ":") else {
      throw JSONFault(.unexpectedCharacter(expected: "“:”"), at: position)
    }
    position += 1
    skipSpace()
  }

  private mutating func open(isObject: Bool) throws(JSONFault) {
    guard stack.count + surroundings.depth < limits.maximumDepth else {
      throw JSONFault(.tooDeep(limit: limits.maximumDepth), at: position)
    }
    stack.append(Frame(entry: tape.entries.count, isObject: isObject))
    append(isObject ? .object : .array, from: position)
    position += 1
  }

  private mutating func close() throws(JSONFault) {
    guard let frame = stack.popLast() else { return }
    tape.entries[frame.entry].extent = frame.count
    tape.entries[frame.entry].next = UInt32(tape.entries.count)
    guard frame.isObject, frame.count > 1 else { return }
    if let repeated = JSONKeys.firstRepeated(of: frame.entry, on: tape, bytes) {
      stack.append(frame)
      stack[stack.count - 1].key = repeated
      throw JSONFault(.duplicateKey, at: Int(tape.entries[repeated].start))
    }
  }

  private mutating func scanNumber() throws(JSONFault) {
    let start = position
    var form = JSONTape.Form.plain
    switch JSONNumberGrammar.skip(bytes, &position, form: &form) {
    case nil: append(.number, from: start, form)
    case .leadingZero: throw JSONFault(.leadingZero, at: position)
    case .missingDigit: throw JSONFault(.missingDigit, at: position)
    }
  }

  private mutating func scanWord(_ word: StaticString, _ kind: JSONTape.Kind) throws(JSONFault) {
    let start = position
    let count = word.utf8CodeUnitCount
    let isWord =
      start + count <= bytes.count
      && (0..<count).allSatisfy { bytes[start + $0] == word.utf8Start[$0] }
    guard isWord else { throw JSONFault(.unexpectedCharacter(expected: "a value"), at: start) }
    position += count
    append(kind, from: start)
  }

  /// Appends a value that ends at the current position to the tape.
  @inline(__always)
  mutating func append(_ kind: JSONTape.Kind, from start: Int, _ form: JSONTape.Form = .plain) {
    tape.entries.append(
      JSONTape.Entry(
        start: UInt32(truncatingIfNeeded: start), extent: UInt32(truncatingIfNeeded: position),
        next: UInt32(truncatingIfNeeded: tape.entries.count + 1), kind: kind, form: form))
  }

  @inline(__always)
  mutating func skipSpace() { skipSpace(to: bytes.count) }

  @inline(__always)
  mutating func skipSpace(to end: Int) {
    while position < end {
      let byte = bytes[position]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
      position += 1
    }
  }

  private func end(_ expected: String) -> JSONFault {
    JSONFault(.unexpectedEnd(expected: expected), at: position)
  }

  /// Returns the path of the value that was being read, for the fault's message.
  func pathOfFault() -> JSONPath {
    var path = surroundings.path
    for (depth, frame) in stack.enumerated() {
      let index = Int(frame.count) + (depth == 0 ? surroundings.firstIndex : 0) - 1
      if frame.key > 0 {
        path.append(key: tape.text(of: frame.key, in: bytes))
      } else if frame.isObject, depth == 0, let key = surroundings.lastKey {
        path.append(key: key)
      } else if !frame.isObject, index >= 0 {
        path.append(index: index)
      }
    }
    return path
  }
}
