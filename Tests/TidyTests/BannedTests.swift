import Foundation
import Testing

/// Patterns that must not occur in the package, with the reasons.
@Suite("Banned patterns") struct BannedTests {
  struct Ban: CustomStringConvertible {
    let pattern: String
    let reason: String
    let folders: [String]
    var description: String { pattern }
  }

  /// The patterns are concatenated, so that they don't match themselves.
  static let inCode = [
    Ban(
      pattern: "\\b" + "fatal" + "Error\\(",
      reason: "bad input throws; a programmer's mistake meets stopProgram",
      folders: ["Sources", "Tests/Programs", "tools"]),
    Ban(
      pattern: "\\b" + "try" + "!", reason: "what can fail throws",
      folders: ["Sources", "Tests/Programs", "tools"]),
    Ban(
      pattern: "\\b" + "as" + "!", reason: "what can fail throws",
      folders: ["Sources", "Tests/Programs", "tools"]),
    Ban(
      pattern: "\\.disabled\\(|\\bwithKnown" + "Issue\\b|\\bXCT" + "Skip\\b",
      reason: "a test that does not run proves nothing", folders: ["Tests"]),
    Ban(
      pattern: "^ *print\\(", reason: "a library prints nothing", folders: ["Sources"]),
    Ban(
      pattern: "\\bMut" + "ex(<.*>)?\\(",
      reason: "a Lock is the same, and one that a sanitizer can see",
      folders: ["Sources", "Tests"]),
  ]

  static let inText = [
    Ban(
      pattern: "\\b(TO" + "DO|FIX" + "ME|XX" + "X)\\b", reason: "unfinished by its own word",
      folders: []),
    Ban(
      pattern: "(?i)\\bnot (yet )?imple" + "mented\\b|\\bunimple" + "mented\\b",
      reason: "unfinished by its own word", folders: []),
    Ban(
      pattern: "(^|[^A-Za-z0-9_.:/~-])/(home|Users|root|srv|work)" + "/[A-Za-z]",
      reason: "a path of one machine", folders: []),
  ]

  @Test("No code contains a banned pattern", arguments: inCode)
  func codeHoldsNone(of ban: Ban) throws {
    for file in SourceTree.swiftFiles(in: ban.folders) {
      #expect(try Self.lines(of: file.code, matching: ban) == [], "\(file.path): \(ban.reason)")
    }
  }

  @Test("No text contains a banned pattern", arguments: inText)
  func textHoldsNone(of ban: Ban) throws {
    for file in SourceTree.textFiles {
      #expect(try Self.lines(of: file.text, matching: ban) == [], "\(file.path): \(ban.reason)")
    }
  }

  @Test("Every pattern finds a violation")
  func findsWhatItForbids() throws {
    let samples = [
      "  fatal" + "Error(\"no\")", "let a = try" + "! b()", "let a = b as" + "! C",
      "@Test(.disabled" + "(\"later\"))", "  print(1)", "Mut" + "ex<[Int]>([])",
      "// TO" + "DO: later", "not imple" + "mented",
      "see /home" + "/someone",
    ]
    for (sample, ban) in zip(samples, Self.inCode + Self.inText) {
      #expect(try Self.lines(of: "fine\n" + sample, matching: ban) == [2], "\(sample)")
    }
    #expect(
      try Self.lines(of: CodeMask.blank("\"\("a")try! \" // try!"), matching: Self.inCode[1]) == [])
  }

  /// Returns the numbers of the lines that match a pattern.
  static func lines(of text: String, matching ban: Ban) throws -> [Int] {
    let expression = try NSRegularExpression(pattern: ban.pattern, options: .anchorsMatchLines)
    let range = NSRange(location: 0, length: text.utf16.count)
    return expression.matches(in: text, range: range).map { match in
      text.utf16.prefix(match.range.upperBound).count { $0 == 0x0A } + 1
    }
  }
}
