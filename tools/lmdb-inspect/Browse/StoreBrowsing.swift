import ArborModel
import ArborObjects
import ArborStore

/// The state of browsing a store in a terminal: a stack of pages, and an input line for predicates.
struct StoreBrowsing {
  private struct Level {
    var page: any BrowsePage
    var selected = 0
    /// The index of the first visible row.
    var top = 0
    /// The number of columns scrolled out on the left.
    var shift = 0
  }

  private var help: String {
    prompt == nil
      ? "enter follow · esc back · / predicate · r reload · q quit"
      : "enter choose · esc cancel · ctrl-u clear"
  }

  private var levels: [Level]
  private var prompt: Frame.Prompt?
  private var message: String?
  private(set) var isOver = false

  private let store: StoreEngine

  init(_ store: StoreEngine) throws {
    self.store = store
    levels = [Level(page: try EntityPage(store))]
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
      frame.status = ToolWording.text(error, in: store)
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
      case .text("/"): beginPrompt()
      case .text("r"):
        levels[levels.count - 1].page = try levels[levels.count - 1].page.reloaded()
      case .text("q"), .control("c"): isOver = true
      default: break
      }
    } catch {
      message = ToolWording.text(error, in: store)
    }
  }

  private mutating func move(by count: Int) {
    let level = levels[levels.count - 1]
    levels[levels.count - 1].selected = max(0, min(level.selected + count, level.page.count - 1))
  }

  private mutating func enter() throws {
    let level = levels[levels.count - 1]
    guard level.selected < level.page.count else { return }
    if let page = try level.page.page(at: level.selected) { levels.append(Level(page: page)) }
  }

  private mutating func leave() {
    if levels.count > 1 { levels.removeLast() }
  }

  // MARK: Input

  private mutating func beginPrompt() {
    let level = levels[levels.count - 1]
    // Other pages cannot be filtered.
    guard level.page is ObjectListPage else {
      message = "Open an entity or a relationship before you filter by a predicate."
      return
    }
    let text = level.page.predicate
    prompt = Frame.Prompt(label: "/", text: text, cursor: text.count)
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

  /// Filters the page by the input. Invalid input is kept for correction.
  private mutating func apply(_ predicate: String) {
    let level = levels[levels.count - 1]
    do {
      if let page = try level.page.filtered(predicate) {
        levels[levels.count - 1] = Level(page: page, shift: level.shift)
      }
      prompt = nil
    } catch {
      message = ToolWording.text(error, in: store)
    }
  }
}
