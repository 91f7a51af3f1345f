import Testing

/// A file is one type and one topic, a function one thought: limits that fail keep them so.
@Suite struct SizeTests {
  static let longestFile = 400
  static let longestFunction = 70
  static let longestLine = 100

  static let files = SourceTree.swiftFiles(in: ["Sources", "Tests", "tools"])

  @Test func filesAreShort() {
    let long = Self.files.filter { $0.lines.count > Self.longestFile }
      .map { "\($0.path): \($0.lines.count) lines" }
    #expect(long == [])
  }

  @Test func linesAreShort() {
    let long = Self.files.flatMap { file in
      file.lines.enumerated().filter { $1.count > Self.longestLine }
        .map { "\(file.path):\($0.offset + 1)" }
    }
    #expect(long == [])
  }

  @Test func functionsAreShort() {
    let long = Self.files.flatMap { file in
      Self.functions(of: file.code).filter { $0.length > Self.longestFunction }
        .map { "\(file.path):\($0.line): \($0.length) lines" }
    }
    #expect(long == [])
  }

  @Test func measuresFunctions() {
    let source = """
      protocol Shape { func area() -> Double }
      struct Square: Shape {
        init(
          side: Double
        ) {
          self.init(side, unit: { 1 }())
        }
        func area() -> Double { side * side }
        subscript(index: Int) -> Int {
          let text = "func { "
          // }
          return index
        }
      }
      """
    #expect(
      Self.functions(of: CodeMask.blank(source))
        == [.init(line: 3, length: 5), .init(line: 8, length: 1), .init(line: 9, length: 5)])
  }

  struct Function: Equatable {
    let line: Int
    let length: Int
  }

  /// Where each function, initialiser and subscript with a body begins, and how many lines it has.
  static func functions(of code: String) -> [Function] {
    let bytes = Array(code.utf8)
    var line = 1
    var found: [Function] = []
    for index in bytes.indices {
      if bytes[index] == UInt8(ascii: "\n") { line += 1 }
      guard beginsFunction(bytes, at: index), let end = endOfBody(bytes, from: index) else {
        continue
      }
      let breaks = bytes[index..<end].count { $0 == UInt8(ascii: "\n") }
      found.append(Function(line: line, length: breaks + 1))
    }
    return found
  }

  private static func beginsFunction(_ bytes: [UInt8], at index: Int) -> Bool {
    let first = bytes[index]
    guard first == 0x66 || first == 0x69 || first == 0x64 || first == 0x73 else { return false }
    guard index == 0 || !isWord(bytes[index - 1]), index == 0 || bytes[index - 1] != 0x2E else {
      return false
    }
    return ["func", "init", "deinit", "subscript"].contains { word in
      let end = index + word.utf8.count
      return bytes[index...].starts(with: word.utf8) && (end == bytes.count || !isWord(bytes[end]))
    }
  }

  /// The offset after the closing brace of the body that follows; nil: a declaration without one.
  private static func endOfBody(_ bytes: [UInt8], from start: Int) -> Int? {
    var parentheses = 0
    var braces = 0
    for index in start..<bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "("), UInt8(ascii: "["): parentheses += 1
      case UInt8(ascii: ")"), UInt8(ascii: "]"): parentheses -= 1
      case UInt8(ascii: "{") where parentheses == 0: braces += 1
      case UInt8(ascii: "}") where parentheses == 0:
        braces -= 1
        if braces == 0 { return index + 1 }
      default:
        if index > start, braces == 0, parentheses == 0, beginsFunction(bytes, at: index) {
          return nil
        }
      }
      if parentheses < 0 || braces < 0 { return nil }
    }
    return nil
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    byte == 0x5F || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
      || (0x61...0x7A).contains(byte)
  }
}
