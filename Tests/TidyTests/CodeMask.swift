/// A mask that replaces comments and string literals in Swift source with spaces, so that rules
/// apply to code only.
///
/// Every replaced byte becomes a space and line breaks are kept, so offsets in the result equal
/// those in the source.
struct CodeMask {
  private let bytes: [UInt8]
  private var output: [UInt8]
  private var index = 0

  /// Returns the source with comments and literals replaced.
  static func blank(_ source: String) -> String {
    var mask = CodeMask(source)
    mask.run()
    return String(decoding: mask.output, as: UTF8.self)
  }

  private init(_ source: String) {
    bytes = Array(source.utf8)
    output = bytes
  }

  private mutating func run() {
    while index < bytes.count {
      if starts(with: "//") {
        blank(while: { $0 != UInt8(ascii: "\n") })
      } else if starts(with: "/*") {
        blankBlockComment()
      } else if let hashes = openingQuote() {
        blankString(hashes: hashes)
      } else {
        index += 1
      }
    }
  }

  private func starts(with text: StaticString) -> Bool {
    // A fast path for the first byte, because this is called for every byte.
    guard bytes[index] == text.utf8Start.pointee else { return false }
    return text.withUTF8Buffer { bytes[index...].starts(with: $0) }
  }

  private func starts(with text: [UInt8]) -> Bool {
    bytes[index] == text[0] && bytes[index...].starts(with: text)
  }

  private mutating func blankOne() {
    if bytes[index] != UInt8(ascii: "\n") { output[index] = UInt8(ascii: " ") }
    index += 1
  }

  private mutating func blank(_ count: Int) {
    for _ in 0..<count where index < bytes.count { blankOne() }
  }

  private mutating func blank(while condition: (UInt8) -> Bool) {
    while index < bytes.count, condition(bytes[index]) { blankOne() }
  }

  private mutating func blankBlockComment() {
    var depth = 0
    repeat {
      if starts(with: "/*") {
        depth += 1
        blank(2)
      } else if starts(with: "*/") {
        depth -= 1
        blank(2)
      } else {
        blankOne()
      }
    } while depth > 0 && index < bytes.count
  }

  /// Returns the number of number signs before the quote that begins a literal here, or `nil` if no
  /// literal begins.
  private func openingQuote() -> Int? {
    guard bytes[index] == UInt8(ascii: "#") || bytes[index] == UInt8(ascii: "\"") else {
      return nil
    }
    let hashes = bytes[index...].prefix { $0 == UInt8(ascii: "#") }.count
    let quote = index + hashes
    return quote < bytes.count && bytes[quote] == UInt8(ascii: "\"") ? hashes : nil
  }

  private mutating func blankString(hashes: Int) {
    blank(hashes)
    let isLong = starts(with: "\"\"\"")
    let close = Array(repeating: UInt8(ascii: "\""), count: isLong ? 3 : 1) + marks(hashes)
    let escape = [UInt8(ascii: "\\")] + marks(hashes)
    blank(isLong ? 3 : 1)
    while index < bytes.count, !starts(with: close) {
      guard starts(with: escape) else {
        if !isLong, bytes[index] == UInt8(ascii: "\n") { return }
        blankOne()
        continue
      }
      blank(escape.count)
      if index < bytes.count, bytes[index] == UInt8(ascii: "(") {
        blankInterpolation()
      } else {
        blank(1)
      }
    }
    blank(close.count)
  }

  private mutating func blankInterpolation() {
    var depth = 0
    repeat {
      if let hashes = openingQuote() {
        blankString(hashes: hashes)
        continue
      }
      if bytes[index] == UInt8(ascii: "(") { depth += 1 }
      if bytes[index] == UInt8(ascii: ")") { depth -= 1 }
      blankOne()
    } while depth > 0 && index < bytes.count
  }

  private func marks(_ hashes: Int) -> [UInt8] {
    Array(repeating: UInt8(ascii: "#"), count: hashes)
  }
}
