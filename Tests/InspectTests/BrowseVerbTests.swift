import ArborData
import Foundation
import TestSupport
import Testing

/// Browsing a store in a terminal: key presses are the input, the screen is the output.
@Suite struct BrowseVerbTests {
  private let office: OfficeStore

  private enum Press {
    static let down = "\u{1B}[B"
    static let up = "\u{1B}[A"
    static let right = "\u{1B}[C"
    static let end = "\u{1B}[F"
    static let home = "\u{1B}[H"
    static let pageDown = "\u{1B}[6~"
    static let enter = "\r"
    static let escape = "\u{1B}"
  }

  init() throws { office = try OfficeStore() }

  private func browse(rows: Int = 12, columns: Int = 60) throws -> PseudoTerminal {
    let terminal = try PseudoTerminal(
      Inspection.program.executable, ["browse", office.url.path], rows: rows, columns: columns)
    terminal.wait { $0.lines.contains { $0.hasSuffix("Project") } }
    return terminal
  }

  /// Navigates from an entity to an object, along a relationship, and back.
  @Test func followsRelationships() throws {
    let terminal = try browse()
    var screen = terminal.wait { $0.lines.contains("      3  Employee") }
    #expect(screen.isOther && !screen.isCursorShown)
    #expect(screen.lines[1] == "objects  entity")
    #expect(screen.lines[2] == "      3  Person (abstract)")
    #expect(screen.bottom.hasSuffix("q quit"))
    terminal.press(Press.down)
    screen = terminal.wait { $0.reversedLines.last == "      3  Employee" }
    #expect(screen.reversedLines.last == "      3  Employee")
    terminal.press(Press.enter)
    screen = terminal.wait { $0.lines[0] == "Employee · 3 objects" }
    #expect(screen.lines[1].hasPrefix("object      name"))
    #expect(screen.lines[2].hasPrefix("Employee/1  \"Ada\""))
    terminal.press(Press.right)
    screen = terminal.wait { $0.lines[1].hasPrefix("object      born") }
    #expect(screen.lines[1].hasPrefix("object      born"))
    terminal.press(Press.enter)
    screen = terminal.wait { $0.lines[0].hasPrefix("Employee/1, version") }
    #expect(screen.lines.contains { $0.hasPrefix("age       36") })
    // Attributes without further contents cannot be opened.
    terminal.press(Press.enter + Press.end)
    screen = terminal.wait { $0.reversedLines.last?.hasPrefix("projects") == true }
    #expect(screen.lines.contains("office    → Office/1"))
    #expect(screen.reversedLines.last == "projects  → 1 object")
    terminal.press(Press.enter)
    screen = terminal.wait { $0.lines[0] == "Employee/1.projects · 1 object" }
    #expect(screen.lines[2].contains("Ångström \\\"two\\\""))
    terminal.press(Press.escape)
    screen = terminal.wait { $0.reversedLines.last?.hasPrefix("projects") == true }
    #expect(screen.lines[0].hasPrefix("Employee/1, version"))
    terminal.press(Press.escape)
    terminal.wait { $0.lines[0] == "Employee · 3 objects" }
    terminal.press("q")
    #expect(terminal.waitForEnd() == 0)
    let last = terminal.wait { !$0.isOther }
    #expect(!last.isOther && last.isCursorShown && last.strange == [])
  }

  @Test func predicatesChooseAndSayWhatIsWrong() throws {
    let terminal = try browse()
    terminal.press("/")
    #expect(terminal.wait { $0.bottom.hasPrefix("A predicate") }.bottom.contains("Open an entity"))
    terminal.press(Press.down + Press.enter)
    terminal.wait { $0.lines[0] == "Employee · 3 objects" }
    terminal.press("/agee > 40")
    var screen = terminal.wait { $0.bottom == "/agee > 40" }
    #expect(screen.isCursorShown && screen.column == 10)
    terminal.press(Press.enter)
    screen = terminal.wait { $0.lines[10].contains("agee") }
    #expect(screen.lines[10].contains("Employee has no property \"agee\""), "\(screen.lines)")
    // The line can be edited, so the extra letter is removed.
    terminal.press(Press.home + Press.right + Press.right + Press.right + "\u{1B}[3~" + Press.enter)
    screen = terminal.wait { $0.lines[0].hasPrefix("Employee where") }
    #expect(screen.lines[0] == "Employee where age > 40 · 2 objects")
    #expect(screen.lines[2].contains("\"Grace\"") && !screen.isCursorShown)
    terminal.press("/\u{15}" + Press.enter)
    terminal.wait { $0.lines[0] == "Employee · 3 objects" }
    terminal.press("/x" + Press.escape + "\u{3}")
    #expect(terminal.waitForEnd() == 0)
  }

  /// Combining marks, grapheme clusters and wide characters at the edge of the screen.
  @Test func noTextLeavesItsLine() throws {
    let store = try PersistentStore(at: .file(office.url))
    let context = store.makeContext()
    let texts = [
      "e" + String(repeating: "\u{301}", count: 40), String(repeating: "क्षि", count: 30),
      String(repeating: "項", count: 40), String(repeating: "👩‍👩‍👧", count: 30),
      String(repeating: "\u{1112}\u{1161}\u{11AB}", count: 40), "\u{202E}abc\u{200B}\u{2060}",
    ]
    for text in texts { try context.insert("Project")["title"] = PropertyValue.string(text) }
    try context.commit()
    try store.check()
    store.close()
    let terminal = try browse(rows: 12, columns: 30)
    #expect(!terminal.wait { !$0.wraps }.wraps)
    terminal.press(Press.end)
    terminal.wait { $0.reversedLines.last?.hasSuffix("Project") == true }
    terminal.press(Press.enter)
    let screen = terminal.wait { $0.lines[0] == "Project · 7 objects" }
    #expect(screen.lines[0] == "Project · 7 objects", "\(screen.lines)")
    #expect(screen.lines.count { $0.hasPrefix("Project/") } == 7)
    #expect(screen.lines.contains { $0.contains("\\u{202E}abc\\u{2") }, "\(screen.lines)")
    terminal.press("q")
    #expect(terminal.waitForEnd() == 0)
    #expect(terminal.wait { $0.wraps }.wraps)
  }

  @Test func followsTheSizeOfTheTerminal() throws {
    let store = try PersistentStore(at: .file(office.url))
    let context = store.makeContext()
    for number in 0..<3000 { try context.insert("Project")["title"] = "項目 \(number) é" }
    try context.commit()
    store.close()
    let terminal = try browse()
    terminal.press(Press.end)
    terminal.wait { $0.reversedLines.last?.hasSuffix("Project") == true }
    terminal.press(Press.enter)
    terminal.wait { $0.lines[0] == "Project · 3001 objects" }
    terminal.press(Press.pageDown)
    var screen = terminal.wait { $0.reversedLines.last?.contains("項目 8 ") == true }
    #expect(screen.lines.filter { $0.contains("項目") }.count == 9 && screen.strange == [])
    terminal.press(Press.end)
    screen = terminal.wait { $0.reversedLines.last?.contains("項目 2999 é") == true }
    #expect(screen.lines[10].contains("2999"))
    terminal.resize(rows: 7, columns: 17)
    screen = terminal.wait { $0.reversedLines.last?.contains("Project/") == true }
    #expect(screen.lines[0] == "Project · 3001 o…" && screen.strange == [])
    #expect(screen.lines.count { $0.hasPrefix("Project/") } == 4)
    terminal.resize(rows: 2, columns: 5)
    terminal.resize(rows: 12, columns: 80)
    screen = terminal.wait { $0.bottom.hasSuffix("q quit") }
    #expect(screen.reversedLines.last?.contains("項目 2999 é") == true, "\(screen.lines)")
    terminal.press("q")
    #expect(terminal.waitForEnd() == 0)
  }

  /// Control sequences in the store's strings don't reach the terminal.
  @Test func hostileTextsAreShownNotObeyed() throws {
    let hostile = "\u{1B}]0;owned\u{7}\u{1B}[2J\u{9B}31m\u{202E}evil\r\n\u{8}\u{7F}"
    let store = try PersistentStore(at: .file(office.url))
    let context = store.makeContext()
    let project = try #require(try context.fetchOne("Project", matching: "title != ''"))
    project["title"] = hostile
    try context.commit()
    store.close()
    let terminal = try browse(columns: 120)
    terminal.press(Press.end)
    terminal.wait { $0.reversedLines.last?.hasSuffix("Project") == true }
    terminal.press(Press.enter)
    let screen = terminal.wait { $0.lines[2].contains("evil") }
    #expect(screen.lines[2].contains("evil") && screen.strange == [])
    #expect(screen.lines[2].contains("\\u{202E}evil"))
    terminal.press("/title == '\u{1B}")
    terminal.press("q")
    terminal.press("q")
    #expect(terminal.waitForEnd() == 0)
    let written = String(decoding: terminal.output, as: UTF8.self)
    #expect(
      !written.unicodeScalars.contains { [0x9B, 0x202E, 0x07, 0x7F, 0x08].contains($0.value) })
    #expect(!written.contains("\u{1B}]"))
  }

  /// A program that is ended by a signal restores the terminal.
  @Test(arguments: [SIGTERM, SIGHUP, SIGINT, SIGQUIT])
  func signalsGiveTheTerminalBack(_ signal: Int32) throws {
    let terminal = try browse()
    terminal.signal(signal)
    #expect(terminal.waitForEnd() == 0)
    let last = terminal.wait { !$0.isOther }
    #expect(!last.isOther && last.isCursorShown)
  }

  /// With `browse S | less`, the terminal is used only for input and left unchanged.
  @Test func leavesTheTerminalAloneWhereOutputIsAPipe() throws {
    let folder = office.folder.url
    let terminal = try PseudoTerminal(
      Inspection.program.executable, ["browse", office.url.path],
      script: """
        stty -g <"$TTY" >"$FOLDER/before"
        setsid -w -c "$@" <"$TTY" 2>"$FOLDER/errors" | cat >"$FOLDER/output"
        stty -g <"$TTY" >"$FOLDER/after"
        echo ended >"$TTY"
        """, environment: ["FOLDER": folder.path])
    #expect(terminal.waitForEnd() == 0)
    func text(_ name: String) throws -> String {
      try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }
    #expect(try text("output") == "")
    #expect(try text("errors").contains("needs a terminal"))
    #expect(try text("before").count > 10)
    #expect(try text("after") == text("before"))
  }

  @Test func needsATerminal() throws {
    let outcome = try Inspection.program.run(["browse", office.url.path])
    #expect(outcome.status == 2)
    #expect(
      outcome.errors == "lmdb-inspect: “browse” needs a terminal for its input and output. Use "
        + "“query” or “dump” in scripts.\n")
  }
}
