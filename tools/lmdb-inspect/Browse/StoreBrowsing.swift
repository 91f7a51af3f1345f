import ArborBrowser
import ArborModel
import ArborObjects
import ArborStore
import LMDB

/// The state of browsing a file in a terminal: a stack of pages, and an input line.
struct StoreBrowsing {
  private enum Input {
    case predicate
    case sort
    /// The questions of the selected row, and the answers so far.
    case answers([BrowseQuestion], [String])
  }

  private struct Level {
    var page: any BrowsePage
    var selected = 0
    /// The index of the first visible row.
    var top = 0
    /// The number of columns that are scrolled out of view on the left.
    var shift = 0
  }

  private var help: String {
    guard prompt == nil else { return "enter choose · esc cancel · ctrl-u clear" }
    let level = levels[levels.count - 1]
    let position =
      level.page.count == 0 ? "no rows" : "row \(level.selected + 1) of \(level.page.count)"
    return position
      + (level.page.choice == nil ? "" : " · / filter · s sort") + " · ? help · q quit"
  }

  private var levels: [Level]
  private var prompt: Frame.Prompt?
  private var input = Input.predicate
  private var message: String?
  private(set) var isOver = false

  /// The text to copy to the clipboard, or `nil` after it has been taken.
  private var copied: String?

  private let file: InspectedFile
  private let store: BrowsedStore?
  private var transaction: UInt64

  /// - Parameter objects: The store in the file, or `nil` for another program's file.
  init(_ file: InspectedFile, _ objects: PersistentStore?) throws {
    self.file = file
    transaction = try file.environment.info().lastTransactionID
    store = try objects.map {
      BrowsedStore(file: file, engine: try file.requireStore(), objects: $0)
    }
    levels = [
      Level(page: try store.map { try EntityPage($0) as any BrowsePage } ?? TableListPage(file))
    ]
  }

  /// Returns the text to copy, or `nil` if there is none, and clears it.
  mutating func takeCopy() -> String? {
    defer { copied = nil }
    return copied
  }

  mutating func refuseCopy() { message = "The text is too long for the terminal's clipboard." }

  /// Reads the page again if another process has committed, and notices that the file is gone.
  mutating func refresh() {
    do {
      guard file.environment.isInPlace else { throw ReplacedFile.error(isStore: store != nil) }
      let newest = try file.environment.info().lastTransactionID
      guard newest != transaction, prompt == nil else { return }
      transaction = newest
      try reload()
      message = "Another process has committed. The page shows its changes."
    } catch {
      message = ToolWording.text(error, in: file.store)
    }
  }

  private mutating func reload() throws {
    levels[levels.count - 1].page = try levels[levels.count - 1].page.reloaded()
  }

  /// Returns the contents of the screen.
  mutating func frame(_ size: Terminal.Size) -> Frame {
    // Excludes the title, the column names and the status line.
    let room = max(1, size.rows - 3)
    var level = levels[levels.count - 1]
    level.selected = max(0, min(level.selected, level.page.count - 1))
    level.top = max(min(level.top, level.selected), level.selected - room + 1)
    levels[levels.count - 1] = level
    var frame = Frame(title: level.page.title, status: message ?? help, prompt: prompt)
    do {
      let range = level.top..<min(level.page.count, level.top + room)
      (frame.header, frame.rows) = try level.page.rows(range, shift: level.shift)
      frame.selected = range.isEmpty ? nil : level.selected - level.top
    } catch {
      frame.status = ToolWording.text(error, in: file.store)
    }
    return frame
  }

  /// Handles a key press.
  ///
  /// - Parameter rows: The number of rows of the screen.
  mutating func press(_ key: Key, rows: Int) {
    message = nil
    if prompt != nil { return edit(key) }
    let page = max(1, rows - 3)
    do {
      switch key {
      case .up, .control("p"): move(by: -1)
      case .down, .control("n"): move(by: 1)
      case .pageUp: move(by: -page)
      case .pageDown, .text(" "): move(by: page)
      case .home: levels[levels.count - 1].selected = 0
      case .end: levels[levels.count - 1].selected = .max
      case .left: levels[levels.count - 1].shift = max(0, levels[levels.count - 1].shift - 1)
      case .right: levels[levels.count - 1].shift += 1
      case .enter: try enter()
      case .escape, .backspace: leave()
      case .text("/"): beginPrompt(.predicate)
      case .text("s"): beginPrompt(.sort)
      case .text("o"):
        if let store { levels.append(Level(page: try QueryPage(store))) }
      case .text("x"): try show(as: .hex)
      case .text("j"): try show(as: .json)
      case .text("y"): try copy()
      case .text("?"): levels.append(Level(page: HelpPage()))
      case .text("r"): try reload()
      case .text("q"), .control("c"): isOver = true
      default: break
      }
    } catch {
      message = ToolWording.text(error, in: file.store)
    }
  }

  private mutating func move(by count: Int) {
    let level = levels[levels.count - 1]
    levels[levels.count - 1].selected = max(0, min(level.selected + count, level.page.count - 1))
  }

  private mutating func enter() throws {
    let level = levels[levels.count - 1]
    guard level.selected < level.page.count else { return }
    let questions = level.page.questions(at: level.selected)
    if !questions.isEmpty { return ask(questions, []) }
    try open(level, answers: [])
  }

  private mutating func open(_ level: Level, answers: [String]) throws {
    guard let page = try level.page.page(at: level.selected, answers: answers) else { return }
    levels.append(Level(page: page))
  }

  private mutating func show(as form: ValueForm) throws {
    let level = levels[levels.count - 1]
    guard let page = try level.page.shown(as: form) else {
      message = "Open a value to see it as bytes or JSON."
      return
    }
    levels[levels.count - 1] = Level(page: page)
  }

  private mutating func copy() throws {
    let level = levels[levels.count - 1]
    guard level.selected < level.page.count else { return }
    copied = try level.page.copy(of: level.selected)
    message = "Copied."
  }

  private mutating func leave() {
    if levels.count > 1 { levels.removeLast() }
  }

  // MARK: Input

  private mutating func beginPrompt(_ input: Input) {
    guard let choice = levels[levels.count - 1].page.choice else {
      message = "Open an entity or a relationship before you filter or sort."
      return
    }
    self.input = input
    switch input {
    case .predicate:
      prompt = Frame.Prompt(label: "/", text: choice.predicate, cursor: choice.predicate.count)
    case .sort:
      prompt = Frame.Prompt(label: "sort by ", text: choice.sort, cursor: choice.sort.count)
    case .answers: break
    }
  }

  /// Asks the question after those that have been answered.
  private mutating func ask(_ questions: [BrowseQuestion], _ answers: [String]) {
    input = .answers(questions, answers)
    prompt = Frame.Prompt(label: questions[answers.count].label, text: "", cursor: 0)
  }

  private mutating func edit(_ key: Key) {
    guard var line = prompt else { return }
    switch key {
    case .enter: return apply(line.text)
    case .escape, .control("c"):
      prompt = nil
      return
    case .left: line.cursor = max(0, line.cursor - 1)
    case .right: line.cursor = min(line.text.count, line.cursor + 1)
    case .home, .control("a"): line.cursor = 0
    case .end, .control("e"): line.cursor = line.text.count
    case .control("u"):
      line.text = ""
      line.cursor = 0
    case .backspace where line.cursor > 0:
      line.text.remove(at: line.text.index(line.text.startIndex, offsetBy: line.cursor - 1))
      line.cursor -= 1
    case .delete where line.cursor < line.text.count:
      line.text.remove(at: line.text.index(line.text.startIndex, offsetBy: line.cursor))
    case .text(let scalar):
      // A combining mark joins the preceding character.
      let index = line.text.index(line.text.startIndex, offsetBy: line.cursor)
      let before = String(line.text[..<index]) + String(scalar)
      line.text = before + line.text[index...]
      line.cursor = before.count
    default: break
    }
    prompt = line
  }

  /// Filters or sorts the page by the input, or takes it as an answer. Invalid input is kept for correction.
  private mutating func apply(_ text: String) {
    let level = levels[levels.count - 1]
    var choice = level.page.choice ?? RowChoice()
    do {
      switch input {
      case .predicate: choice.predicate = text
      case .sort: choice.sort = text
      case .answers(let questions, let former):
        let answers = former + [text]
        try questions[former.count].check(text)
        if answers.count < questions.count { return ask(questions, answers) }
        try open(level, answers: answers)
        prompt = nil
        return
      }
      let page = try level.page.choosing(choice)
      levels[levels.count - 1] = Level(page: page, shift: level.shift)
      prompt = nil
    } catch {
      message = ToolWording.text(error, in: file.store)
    }
  }
}
