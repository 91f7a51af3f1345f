/// The words of a text, as stored by a full-text index and compared by `TOKENMATCHES`.
///
/// A text is split at every ASCII character that isn't a letter or a digit. The parts are converted
/// from compatibility forms to plain characters (see ``CompatibilityForms``) and folded (see
/// ``StringFolding``). A token is a maximal run of letters, digits and marks in the result. In
/// scripts without spaces, such a run would be a whole sentence, so each ideograph and each kana is
/// a token of its own, together with the marks that follow it.
///
/// | text | tokens |
/// |---|---|
/// | `The Café, 2nd` | `the` `cafe` `2nd` |
/// | `don't_stop` | `don` `t` `stop` |
/// | `東京タワー 333` | `東` `京` `タ` `ワ` `ー` `333` |
/// | `ＡＢＣ ﾀﾜｰ` | `abc` `タ` `ワ` `ー` |
///
/// The memory is reused from text to text, and ASCII words don't create a `String`.
package struct TextTokens {
  /// A token, as a range of the folded bytes.
  private struct Span {
    var start: Int
    var end: Int
    /// Whether an asterisk immediately follows.
    var isStarred = false
  }

  /// The version of the tokenization. Tokens are stored, so it must be incremented when the rules
  /// change.
  package static let version = 2

  private var bytes: [UInt8] = []
  private var spans: [Span] = []

  private let folding: StringFolding

  /// Creates an empty list of tokens.
  ///
  /// - Parameter folding: The differences to ignore. Indexes and `TOKENMATCHES` always ignore both.
  package init(folding: StringFolding = [.case, .diacritics]) { self.folding = folding }

  package var count: Int { spans.count }

  /// Calls a closure with the folded UTF-8 of a token.
  @inline(__always)
  package func withToken<R, E: Error>(
    _ index: Int, _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    let span = spans[index]
    return try bytes.withUnsafeBufferPointer { (bytes) throws(E) -> R in
      let token = UnsafeBufferPointer(rebasing: bytes[span.start..<span.end])
      return try body(UnsafeRawBufferPointer(token))
    }
  }

  /// Returns whether an asterisk immediately follows a token, which makes it a prefix in a query.
  package func isStarred(_ index: Int) -> Bool { spans[index].isStarred }

  // MARK: Reading

  /// Replaces the tokens with those of a text, in order.
  package mutating func read(_ text: UnsafeRawBufferPointer) {
    removeAll()
    Self.forEachChunk(text) { range, isASCII in
      let chunk = UnsafeRawBufferPointer(rebasing: text[range])
      let endsInToken = isASCII ? readPlain(chunk) : readFolded(chunk)
      if endsInToken, range.upperBound < text.count, text[range.upperBound] == UInt8(ascii: "*") {
        spans[spans.count - 1].isStarred = true
      }
    }
  }

  private mutating func removeAll() {
    bytes.removeAll(keepingCapacity: bytes.capacity < 1 << 20)
    spans.removeAll(keepingCapacity: spans.capacity < 1 << 16)
  }

  /// Visits the runs of bytes between ASCII separators.
  @inline(__always)
  private static func forEachChunk(
    _ text: UnsafeRawBufferPointer, _ body: (_ range: Range<Int>, _ isASCII: Bool) -> Void
  ) {
    var offset = 0
    while offset < text.count {
      guard isWord(text[offset]) else {
        offset += 1
        continue
      }
      let start = offset
      var isASCII = true
      while offset < text.count, isWord(text[offset]) {
        isASCII = isASCII && text[offset] < 0x80
        offset += 1
      }
      body(start..<offset, isASCII)
    }
  }

  /// Replaces the tokens with those of a text, in order, and returns the range of each in the text.
  ///
  /// Slower than ``read(_:)-(String)``; intended for text that is displayed.
  package mutating func readLocated(_ text: String) -> [Range<String.Index>] {
    removeAll()
    var text = text
    text.makeContiguousUTF8()
    var chunks: [(range: Range<Int>, isASCII: Bool)] = []
    text.withUTF8 { bytes in
      Self.forEachChunk(UnsafeRawBufferPointer(bytes)) { chunks.append(($0, $1)) }
    }
    var ranges: [Range<String.Index>] = []
    for chunk in chunks {
      let utf8 = text.utf8
      let start = utf8.index(utf8.startIndex, offsetBy: chunk.range.lowerBound)
      let part = text[start..<utf8.index(start, offsetBy: chunk.range.count)]
      if chunk.isASCII {
        Array(part.utf8).withUnsafeBytes { _ = readPlain($0) }
        ranges.append(part.startIndex..<part.endIndex)
      } else {
        readLocated(part, &ranges)
      }
    }
    return ranges
  }

  /// Adds the tokens of a run without ASCII separators and their ranges. The ranges are determined
  /// character by character if the characters fold independently of each other; otherwise each
  /// token gets the range of the whole run.
  private mutating func readLocated(_ chunk: Substring, _ ranges: inout [Range<String.Index>]) {
    let (firstSpan, firstByte) = (spans.count, bytes.count)
    Array(chunk.utf8).withUnsafeBytes { _ = readFolded($0) }
    let whole = (spans: Array(spans[firstSpan...]), bytes: Array(bytes[firstByte...]))
    spans.removeSubrange(firstSpan...)
    bytes.removeSubrange(firstByte...)
    var run = Run.none
    var own: [Range<String.Index>] = []
    for index in chunk.indices {
      let range = index..<chunk.index(after: index)
      for scalar in folded(String(chunk[range])).unicodeScalars {
        let known = spans.count
        run = append(scalar, after: run)
        if spans.count > known {
          own.append(range)
        } else if run != .none, let last = own.last {
          own[own.count - 1] = last.lowerBound..<range.upperBound
        }
      }
    }
    let isSame =
      spans.count - firstSpan == whole.spans.count && bytes[firstByte...].elementsEqual(whole.bytes)
      && zip(spans[firstSpan...], whole.spans).allSatisfy {
        $0.start == $1.start && $0.end == $1.end
      }
    if !isSame {
      spans.replaceSubrange(firstSpan..., with: whole.spans)
      bytes.replaceSubrange(firstByte..., with: whole.bytes)
      own = whole.spans.map { _ in chunk.startIndex..<chunk.endIndex }
    }
    ranges += own
  }

  /// Replaces the tokens with those of a text, in order.
  package mutating func read(_ text: String) {
    var text = text
    text.withUTF8 { read(UnsafeRawBufferPointer($0)) }
  }

  /// Returns whether a byte is an ASCII letter or digit, or part of a non-ASCII character.
  @inline(__always)
  private static func isWord(_ byte: UInt8) -> Bool {
    byte >= 0x80 || StringFolding.lowercased(byte) &- UInt8(ascii: "a") < 26
      || byte &- UInt8(ascii: "0") < 10
  }

  /// Adds a run of ASCII letters and digits, which is one token.
  private mutating func readPlain(_ chunk: UnsafeRawBufferPointer) -> Bool {
    let start = bytes.count
    let ignoresCase = folding.contains(.case)
    for byte in chunk { bytes.append(ignoresCase ? StringFolding.lowercased(byte) : byte) }
    spans.append(Span(start: start, end: bytes.count))
    return true
  }

  /// Adds the tokens of a run without ASCII separators. Returns whether the run ends with a token.
  private mutating func readFolded(_ chunk: UnsafeRawBufferPointer) -> Bool {
    let text: String
    if CompatibilityForms.mayOccur(in: chunk) {
      text = folded(String(decoding: chunk, as: UTF8.self))
    } else {
      text = folding.withFolded(chunk) { String(decoding: $0, as: UTF8.self) }
    }
    var run = Run.none
    for scalar in text.unicodeScalars { run = append(scalar, after: run) }
    return run != .none
  }

  private func folded(_ text: String) -> String {
    folding.fold(CompatibilityForms.plain(text))
  }

  /// Adds a character to the previous token or to a new one. Returns the kind of run that ends with
  /// it.
  @inline(__always)
  private mutating func append(_ scalar: Unicode.Scalar, after run: Run) -> Run {
    switch Kind.of(scalar) {
    case .other: return .none
    case .mark:
      // A mark without a preceding character is not a word.
      if run != .none { append(scalar, isNew: false) }
      return run
    case .letter:
      append(scalar, isNew: run != .word)
      return .word
    case .single:
      append(scalar, isNew: true)
      return .single
    }
  }

  private enum Run { case none, word, single }

  private mutating func append(_ scalar: Unicode.Scalar, isNew: Bool) {
    if isNew { spans.append(Span(start: bytes.count, end: bytes.count)) }
    bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    spans[spans.count - 1].end = bytes.count
  }

  /// The role of a character in tokenization.
  private enum Kind {
    case letter, mark, single, other

    private static let common = (0..<FoldingTable.limit).map { code in
      Unicode.Scalar(code).map { Kind($0) } ?? .other
    }

    static func of(_ scalar: Unicode.Scalar) -> Kind {
      scalar.value < FoldingTable.limit ? common[Int(scalar.value)] : Kind(scalar)
    }

    private init(_ scalar: Unicode.Scalar) {
      switch scalar.properties.generalCategory {
      case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
        .decimalNumber, .letterNumber, .otherNumber:
        self = Self.isUnspaced(scalar.value) ? .single : .letter
      case .nonspacingMark, .spacingMark, .enclosingMark: self = .mark
      default: self = .other
      }
    }

    /// Returns whether a character is an ideograph or kana, or a symbol used among them.
    private static func isUnspaced(_ value: UInt32) -> Bool {
      switch value {
      case 0x3005...0x3007, 0x3021...0x3029, 0x3031...0x303C, 0x3040...0x30FF, 0x31F0...0x31FF,
        0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0xFF66...0xFF9F, 0x1B000...0x1B16F,
        0x20000...0x3FFFF:
        true
      default: false
      }
    }
  }

  // MARK: Sets

  /// Sorts the tokens by their bytes, without duplicates.
  ///
  /// - Parameter limit: The number of bytes to which tokens are truncated before they are compared.
  package mutating func sortDistinct(cutAt limit: Int = .max) {
    for index in spans.indices where spans[index].end - spans[index].start > limit {
      spans[index].end = spans[index].start + limit
    }
    guard spans.count > 1 else { return }
    bytes.withUnsafeBytes { bytes in
      spans.sort { Self.order(bytes, $0, $1) == .less }
      var kept = 1
      for index in 1..<spans.count
      where Self.order(bytes, spans[kept - 1], spans[index]) != .equal {
        spans[kept] = spans[index]
        kept += 1
      }
      spans.removeSubrange(kept...)
    }
  }

  private static func order(
    _ bytes: UnsafeRawBufferPointer, _ left: Span, _ right: Span
  ) -> Ordering {
    Ordering(
      bytes: UnsafeRawBufferPointer(rebasing: bytes[left.start..<left.end]),
      UnsafeRawBufferPointer(rebasing: bytes[right.start..<right.end]))
  }
}
