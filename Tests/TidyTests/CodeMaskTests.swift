import Testing

/// The mask, on which the rules rely, must hide exactly comments and literals.
@Suite("Masking of comments and literals") struct CodeMaskTests {
  @Test(
    "Comments and literals are replaced by spaces",
    arguments: [
      ("a // b\nc", "a     \nc"),
      ("a /* b /* c */ d */ e", "a                   e"),
      ("f(\"x\") + 1", "f(   ) + 1"),
      ("\"a\\\"b\" c", "       c"),
      ("\"\\(g(\"}\"))\" c", "            c"),
      ("#\"a\"b\"# c", "        c"),
      ("\"\"\"\n x \"y\" {\n\"\"\" z", "   \n        \n    z"),
      ("\"https://x\" // y", "                "),
    ])
  func blanks(_ source: String, _ expected: String) {
    #expect(CodeMask.blank(source) == expected)
  }

  @Test("Masked files keep their length and lines")
  func keepsEveryOffset() {
    for file in SourceTree.swiftFiles(in: ["Tests/TidyTests"]) {
      #expect(file.code.utf8.count == file.text.utf8.count)
      #expect(
        file.code.split(separator: "\n", omittingEmptySubsequences: false).count
          == file.text.split(separator: "\n", omittingEmptySubsequences: false).count)
    }
  }
}
