import ArborData
import Foundation
import TestSupport
import Testing

/// The tutorial's program compiles and runs, and each step extends the previous one.
@Suite("The code in the tutorial") struct TutorialTests {
  private static let folder = ReadmeTests.root.appending(
    path: "Sources/ArborData/ArborData.docc/Tutorials")
  private static let steps = 7

  private static func code(_ step: Int) throws -> [String] {
    let file = folder.appending(path: "Code/ReadingList-\(step).swift")
    return lines(of: try String(contentsOf: file, encoding: .utf8))
  }

  /// Returns the non-empty lines, without their indentation.
  private static func lines(of text: String) -> [String] {
    text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty }
  }

  @Test("The program contains the code of the last step")
  func theLastStepIsTheProgram() throws {
    let source = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "TutorialProgram.swift")
    var program = Self.lines(of: try String(contentsOf: source, encoding: .utf8))[...]
    // The folder is the test's own.
    for line in try Self.code(Self.steps) where !line.hasPrefix("let folder =") {
      let index = try #require(program.firstIndex(of: line), "\(line)")
      program = program[(index + 1)...]
    }
  }

  @Test("Each step contains the lines of the previous one")
  func everyStepGoesOnFromTheOneBefore() throws {
    for step in 1..<Self.steps {
      var next = try Self.code(step + 1)[...]
      for line in try Self.code(step) {
        let index = try #require(next.firstIndex(of: line), "step \(step): \(line)")
        next = next[(index + 1)...]
      }
    }
    let tutorial = try String(
      contentsOf: Self.folder.appending(path: "ReadingList.tutorial"), encoding: .utf8)
    let named = tutorial.matches(of: /file: "ReadingList-(\d)\.swift"/).map { $0.output.1 }
    #expect(named == (1...Self.steps).map { "\($0)" })
  }

  @Test("The tutorial's program prints what the text says")
  func theProgramPrintsWhatTheTextSays() throws {
    let folder = try TemporaryFolder()
    let expected = [
      "1969 The Left Hand of Darkness by Ursula K. Le Guin",
      "1971 The Futurological Congress by Stanisław Lem",
      "1974 The Dispossessed by Ursula K. Le Guin", "as before", "3 books, and a copy of them",
    ]
    #expect(try TutorialProgram.run(in: folder.url) == expected)
    #expect(try TutorialProgram.run(in: folder.url) == expected)
    let copy = try PersistentStore(at: .file(folder.url.appending(path: "ReadingList-copy.arbor")))
    try copy.check()
    copy.close()
  }
}
