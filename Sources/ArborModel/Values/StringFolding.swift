/// Options for ignoring case and diacritics in comparisons, and the folded form of strings that
/// they define.
///
/// Strings are compared by the code points of their folded forms. A folded string is composed
/// (NFC), so canonically equivalent strings have the same folded form. Without folding, they
/// differ.
package struct StringFolding: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// No folding. Declared as a constant, because an empty literal would be created by a generic
  /// call.
  package static let none: StringFolding = []
  /// Ignores case.
  package static let `case` = StringFolding(rawValue: 1)
  /// Ignores diacritics: removes the nonspacing and enclosing marks of all scripts.
  package static let diacritics = StringFolding(rawValue: 2)
  /// Composes characters, and changes nothing else, so that canonically equivalent strings are
  /// equal. The other foldings do the same, so this one is never combined with them.
  package static let canonical = StringFolding(rawValue: 4)

  /// The version of the folded form. Folded keys are stored, so it must be incremented when the
  /// form changes.
  package static let version = 3

  /// Returns the folded form of a string, or the string itself for an empty folding.
  package func fold(_ text: String) -> String {
    if isEmpty { return text }
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
      return contains(.case) ? Self.lowercasedASCII(text) : text
    }
    var text = text
    let folded = text.withUTF8 { bytes -> String? in
      foldByTable(UnsafeRawBufferPointer(bytes)) { $0.map { String(decoding: $0, as: UTF8.self) } }
    }
    return folded ?? foldByCharacters(text)
  }

  /// Calls a closure with the folded form if ``FoldingTable`` is sufficient, otherwise with `nil`.
  private func foldByTable<R>(
    _ text: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer?) -> R
  ) -> R {
    let room = text.count * FoldingTable.growth
    return withUnsafeTemporaryAllocation(byteCount: room, alignment: 1) { target in
      guard let count = FoldingTable.table(of: self).fold(text, into: target) else {
        return body(nil)
      }
      return body(UnsafeRawBufferPointer(rebasing: target[..<count]))
    }
  }

  /// Returns the folded form of any string: decomposed, without marks, fully case-folded, and
  /// composed again.
  func foldByCharacters(_ text: String) -> String {
    var scalars = text.decomposed
    if contains(.diacritics) { scalars.removeAll(where: \.isDiacritic) }
    if contains(.case) {
      var folded = String.UnicodeScalarView()
      for scalar in scalars { folded.append(contentsOf: scalar.caseFolded) }
      // The folded forms of some characters are composed, or contain marks.
      scalars = String(folded).decomposed
      if contains(.diacritics) { scalars.removeAll(where: \.isDiacritic) }
    }
    return String(scalars).composed
  }

  private static func lowercasedASCII(_ text: String) -> String {
    String(decoding: text.utf8.map(lowercased), as: UTF8.self)
  }

  /// Returns the lowercase of an ASCII letter, and other bytes unchanged.
  @inlinable @inline(__always)
  package static func lowercased(_ byte: UInt8) -> UInt8 {
    byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
  }
}

extension StringFolding {
  /// Calls a closure with the folded form of UTF-8. ASCII, and most text that the table covers, is
  /// folded on the stack; other text is folded as strings.
  @inline(__always)
  package func withFolded<R>(
    _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> R
  ) -> R {
    guard bytes.isASCII else { return withFoldedLetters(bytes, body) }
    guard contains(.case) else { return body(bytes) }
    return withUnsafeTemporaryAllocation(byteCount: bytes.count, alignment: 1) { lower in
      for index in 0..<bytes.count { lower[index] = Self.lowercased(bytes[index]) }
      return body(UnsafeRawBufferPointer(lower))
    }
  }

  @inline(never)
  private func withFoldedLetters<R>(
    _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> R
  ) -> R {
    if isEmpty { return body(bytes) }
    return foldByTable(bytes) { folded in
      if let folded { return body(folded) }
      var text = foldByCharacters(String(decoding: bytes, as: UTF8.self))
      return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
  }
}

extension Unicode.Scalar {
  /// Whether the character is a nonspacing or enclosing mark, such as an accent, a vowel point or a
  /// tone mark.
  fileprivate var isDiacritic: Bool {
    guard value >= 0x300 else { return false }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return true
    default: return false
    }
  }

  /// The full Unicode case folding. The standard library only reports which characters it changes.
  /// These are mapped to uppercase and back to lowercase or, if that leaves them unchanged, to
  /// uppercase only.
  fileprivate var caseFolded: String.UnicodeScalarView {
    guard value >= 0x80 else {
      return String(Unicode.Scalar(StringFolding.lowercased(UInt8(value)))).unicodeScalars
    }
    guard properties.changesWhenCaseFolded else { return String(self).unicodeScalars }
    var upper = String.UnicodeScalarView()
    for lower in properties.lowercaseMapping.unicodeScalars {
      upper.append(contentsOf: lower.properties.uppercaseMapping.unicodeScalars)
    }
    var folded = String.UnicodeScalarView()
    for scalar in upper {
      folded.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
    }
    return folded.elementsEqual([self]) ? upper : folded
  }
}

extension UnsafeRawBufferPointer {
  @inline(__always)
  var isASCII: Bool {
    guard let base = baseAddress else { return true }
    var offset = 0
    var seen: UInt64 = 0
    while offset + 8 <= count {
      seen |= base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      offset += 8
    }
    while offset < count {
      seen |= UInt64(base.load(fromByteOffset: offset, as: UInt8.self))
      offset += 1
    }
    return seen & 0x8080_8080_8080_8080 == 0
  }
}
