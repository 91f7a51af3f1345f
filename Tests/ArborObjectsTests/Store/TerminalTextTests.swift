import Testing

import ArborObjects

/// Text from a file that is printed to a terminal.
@Suite struct TerminalTextTests {
  @Test("Control characters are escaped")
  func ordersBecomeTexts() {
    #expect(TerminalText.escaped("plain, Ångström, 项目 👩‍👩‍👧") == "plain, Ångström, 项目 👩‍👩‍👧")
    #expect(TerminalText.escaped("a\u{1B}[2Jb") == "a\\u{1B}[2Jb")
    #expect(TerminalText.escaped("a\nb\tc\rd") == "a\\nb\\tc\\rd")
    for scalar in Array(0..<0x20) + Array(0x7F..<0xA0) + [0x202E, 0x2066, 0x200F, 0xFEFF] {
      let text = Unicode.Scalar(UInt32(scalar)).map { String(Character($0)) } ?? ""
      #expect(TerminalText.escaped("x\(text)").hasPrefix("x\\"), "\(scalar)")
    }
  }
}
