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
      Inspection.program.executable, ["browse", office.url.path], rows: rows, columns: columns,
      environment: ["XDG_STATE_HOME": office.folder.url.path])
    terminal.wait { $0.lines.contains { $0.hasSuffix("Project") } }
    return terminal
  }

  @Test("Navigates from an entity to an object, along a relationship, and back")
  func followsRelationships() throws {
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
    terminal.press(Press.end)
    screen = terminal.wait { $0.reversedLines.last?.hasPrefix("projects") == true }
    #expect(screen.lines.contains("office    → Office/1 “Riga”"))
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

  @Test("A predicate filters the rows, and a wrong one is explained")
  func predicatesChooseAndSayWhatIsWrong() throws {
    let terminal = try browse()
    terminal.press("/")
    #expect(terminal.wait { $0.bottom.hasPrefix("Open") }.bottom.contains("Open an entity"))
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

  @Test("Objects can be sorted and counted")
  func objectsAreSortedAndCounted() throws {
    let terminal = try browse()
    #expect(terminal.wait { $0.bottom.hasPrefix("row 1 of 4 · ") }.bottom.hasPrefix("row 1 of 4"))
    terminal.press(Press.down + Press.enter)
    terminal.wait { $0.lines[0] == "Employee · 3 objects" }
    terminal.press("s-agee" + Press.enter)
    terminal.wait { $0.lines[10].contains("agee") }
    terminal.press("\u{7F}" + Press.enter)
    var screen = terminal.wait { $0.lines[0] == "Employee by -age · 3 objects" }
    #expect(
      screen.lines[2...4].map { $0.prefix(10) } == ["Employee/2", "Employee/3", "Employee/1"])
    terminal.press(Press.down)
    screen = terminal.wait { $0.bottom.hasPrefix("row 2 of 3 · ") }
    #expect(screen.bottom.hasPrefix("row 2 of 3 · "))
    terminal.press("/age < 45" + Press.enter)
    screen = terminal.wait { $0.lines[0] == "Employee where age < 45 by -age · 2 objects" }
    #expect(screen.lines[2].hasPrefix("Employee/3") && screen.strange == [])
    terminal.press("q")
    #expect(terminal.waitForEnd() == 0)
  }

  @Test("The help lists the keys")
  func helpNamesTheKeys() throws {
    let terminal = try browse(rows: 20, columns: 100)
    terminal.press("?")
    let screen = terminal.wait { $0.lines[0] == "Keyboard shortcuts" }
    #expect(screen.lines.contains { $0.hasPrefix("y ") && $0.contains("clipboard") })
    terminal.press(Press.escape)
    terminal.wait { $0.lines[0] == office.url.path }
    terminal.press("q")
    #expect(terminal.waitForEnd() == 0)
  }

  @Test("Commits of other processes appear")
  func commitsOfOthersAppear() throws {
    let terminal = try browse()
    terminal.press(Press.down)
    terminal.wait { $0.reversedLines.last == "      3  Employee" }
    let store = try PersistentStore(at: .file(office.url))
    let context = store.makeContext()
    try context.insert("Project")["title"] = "new"
    try context.commit()
    store.close()
    let screen = terminal.wait { $0.lines.contains("      2  Project") }
    #expect(screen.lines.contains("      2  Project"), "\(screen.lines)")
    #expect(screen.reversedLines.last == "      3  Employee")
    #expect(screen.bottom.hasPrefix("Another process has committed"))
    terminal.press("q")
    #expect(terminal.waitForEnd() == 0)
  }

  @Test("A removed or replaced file is noticed", arguments: [false, true])
  func aRemovedFileIsNoticed(isReplaced: Bool) throws {
    let terminal = try browse(columns: 120)
    try FileManager.default.moveItem(
      at: office.url, to: office.folder.url.appending(path: "Moved.arbor"))
    if isReplaced { try Data("another file".utf8).write(to: office.url) }
    let message =
      "The store's file was removed or replaced. Start the browser again to see the current file."
    let screen = terminal.wait { $0.bottom == message }
    #expect(screen.bottom == message, "\(screen.lines)")
    terminal.press("q")
    #expect(terminal.waitForEnd() == 0)
  }

  @Test("A removed file of another program is noticed")
  func aRemovedFileOfAnotherProgramIsNoticed() throws {
    let foreign = try ForeignFile()
    defer { foreign.remove() }
    let terminal = try PseudoTerminal(
      Inspection.program.executable, ["browse", foreign.folder.path], rows: 12, columns: 120)
    terminal.wait { $0.lines.contains { $0.contains("words") } }
    try FileManager.default.moveItem(
      at: foreign.data, to: foreign.folder.appending(path: "moved.mdb"))
    let message =
      "The file was removed or replaced. Start the browser again to see the current file."
    let screen = terminal.wait { $0.bottom == message }
    #expect(screen.bottom == message, "\(screen.lines)")
    terminal.press("q")
    #expect(terminal.waitForEnd() == 0)
  }

  @Test("Values are shown and copied completely")
  func valuesAreShownAndCopiedWhole() throws {
    let long = String(repeating: "long ", count: 50) + "end"
    let store = try PersistentStore(at: .file(office.url))
    let context = store.makeContext()
    try #require(try context.fetchOne("Project"))["title"] = "{\"a\": [1, \"\(long)\"]}"
    try context.commit()
    store.close()
    let terminal = try browse(columns: 80)
    terminal.press(Press.end + Press.enter)
    terminal.wait { $0.lines[0] == "Project · 1 object" }
    terminal.press("y")
    #expect(terminal.wait { !$0.copies.isEmpty }.copies == ["Project/1"])
    terminal.press(Press.enter)
    terminal.wait { $0.lines[0].hasPrefix("Project/1, version") }
    terminal.press("y")
    #expect(terminal.wait { $0.copies.count == 2 }.copies.last?.hasSuffix("long end\"]}") == true)
    terminal.press(Press.enter)
    var screen = terminal.wait { $0.lines[0].hasSuffix("· title · text") }
    #expect(screen.lines[1].hasPrefix("{\"a\": [1, \"long"), "\(screen.lines)")
    terminal.press("x")
    screen = terminal.wait { $0.lines[0].hasSuffix("· title · hex") }
    #expect(screen.lines[1].hasPrefix("000000  7b 22 61 22 3a 20 5b 31"), "\(screen.lines)")
    terminal.press("j")
    screen = terminal.wait { $0.lines[0].hasSuffix("· title · JSON") }
    #expect(screen.lines[1] == "{" && screen.lines[2] == "  \"a\": [", "\(screen.lines)")
    #expect(screen.strange == [])
    terminal.press("q")
    #expect(terminal.waitForEnd() == 0)
  }

  @Test("Stored and recent queries are listed and can be opened")
  func queriesOpenTheirObjects() throws {
    let state = try TemporaryFolder()
    let terminal = try PseudoTerminal(
      Inspection.program.executable, ["browse", office.url.path], rows: 12, columns: 60,
      environment: ["XDG_STATE_HOME": state.url.path, "XDG_CONFIG_HOME": state.url.path])
    terminal.wait { $0.lines.contains { $0.hasSuffix("Project") } }
    terminal.press("o")
    var screen = terminal.wait { $0.lines[0] == "Queries · 1" }
    #expect(screen.lines[2] == "request  elders  Employee 'age > 40'", "\(screen.lines)")
    terminal.press(Press.enter)
    terminal.wait { $0.lines[0] == "Employee where age > 40 · 2 objects" }
    // A filter is among the last queries.
    terminal.press("/\u{15}age > 44" + Press.enter)
    terminal.wait { $0.lines[0] == "Employee where age > 44 · 1 object" }
    terminal.press("o")
    screen = terminal.wait { $0.lines[0] == "Queries · 2" }
    #expect(screen.lines[3].hasPrefix("last "), "\(screen.lines)")
    terminal.press("q")
    #expect(terminal.waitForEnd() == 0)
  }

  @Test("Files of other programs are shown by table")
  func filesOfOtherProgramsAreShownByTables() throws {
    let foreign = try ForeignFile()
    defer { foreign.remove() }
    try foreign.write { transaction in
      let many = try ForeignFile.open(transaction, "many", 0x4_0000 | 0x04)
      for number in 0..<3000 {
        let key = Array("key \(10_000 + number / 3)".utf8)
        try ForeignFile.put(transaction, many, key, Array("value \(10_000 + number)".utf8))
      }
    }
    let terminal = try PseudoTerminal(
      Inspection.program.executable, ["browse", foreign.folder.path], rows: 12, columns: 80)
    var screen = terminal.wait { $0.lines.contains { $0.contains("words") } }
    #expect(screen.lines[0].hasSuffix("5 tables"), "\(screen.lines)")
    terminal.press(Press.end + Press.enter)
    screen = terminal.wait { $0.lines[0] == "words · 3 entries" }
    #expect(screen.lines[2].contains("“apple”") && screen.lines[2].contains("“Apfel"))
    terminal.press(Press.enter + "x")
    screen = terminal.wait { $0.lines[0].hasSuffix("· hex") }
    #expect(screen.lines[1].contains("41 70 66 65 6c 00"), "\(screen.lines)")
    terminal.press(Press.escape)
    terminal.wait { $0.lines[0] == "words · 3 entries" }
    terminal.press(Press.escape)
    terminal.wait { $0.lines[0].hasSuffix("5 tables") }
    // The second table is “many”, after the unnamed one.
    terminal.press(Press.home + Press.down + Press.enter)
    terminal.wait { $0.lines[0] == "many · 3000 entries" }
    terminal.press(Press.end)
    screen = terminal.wait { $0.reversedLines.last?.contains("value 12999") == true }
    #expect(screen.reversedLines.last?.contains("“key 10999”") == true, "\(screen.lines)")
    terminal.press("\u{1B}[5~")
    screen = terminal.wait { $0.reversedLines.last?.contains("value 12990") == true }
    #expect(screen.reversedLines.last?.contains("value 12990") == true, "\(screen.lines)")
    #expect(screen.strange == [])
    terminal.press("q")
    #expect(terminal.waitForEnd() == 0)
  }

  /// Combining marks, grapheme clusters and wide characters at the edge of the screen.
  @Test("No text extends beyond its line")
  func noTextLeavesItsLine() throws {
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

  @Test("The screen adapts when the terminal is resized")
  func followsTheSizeOfTheTerminal() throws {
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
  @Test("Control sequences in values are shown, not executed")
  func hostileTextsAreShownNotObeyed() throws {
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

  @Test(
    "A program that is ended by a signal restores the terminal",
    arguments: [SIGTERM, SIGHUP, SIGINT, SIGQUIT])
  func signalsGiveTheTerminalBack(_ signal: Int32) throws {
    let terminal = try browse()
    terminal.signal(signal)
    #expect(terminal.waitForEnd() == 0)
    let last = terminal.wait { !$0.isOther }
    #expect(!last.isOther && last.isCursorShown)
  }

  /// With `browse S | less`, the terminal is used only for input and left unchanged.
  @Test("The terminal is left unchanged if the output is a pipe")
  func leavesTheTerminalAloneWhereOutputIsAPipe() throws {
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

  @Test("Browsing requires a terminal")
  func needsATerminal() throws {
    let outcome = try Inspection.program.run(["browse", office.url.path])
    #expect(outcome.status == 2)
    #expect(
      outcome.errors == "lmdb-inspect: “browse” needs a terminal for its input and output. Use "
        + "“query” or “dump” in scripts.\n")
  }
}
