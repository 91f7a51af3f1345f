import ArborStore
import ArgumentParser

/// `browse`: shows a store in the terminal.
struct BrowseVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "browse", abstract: "Shows a store in the terminal, to look around in.",
    discussion: """
      Arrow keys, Page Up and Page Down, Home and End select a row, left and right move its \
      columns; Enter opens an entity or an object and follows a relationship, Escape leads back. \
      “/” asks for a predicate that the objects of a list must match, an empty one meaning all; \
      “r” reads again what others have committed; “q” quits. Nothing is written. No snapshot is \
      held while you look.
      """)

  @Argument(help: "The store.", completion: .file())
  var path: String

  @Flag(
    help: """
      Read without the lock file. Only for a file that nobody writes, where the lock file may not \
      be written.
      """)
  var immutable = false

  func run() throws {
    try reportAnswer(on: path, json: false) { _ in
      let file = try InspectedFile(path: path, isImmutable: immutable)
      var browsing = try StoreBrowsing(file.requireStore())
      let terminal = try Terminal()
      defer { terminal.restore() }
      while !browsing.isOver {
        let size = terminal.size
        terminal.write(browsing.frame(size).text(size))
        switch terminal.event() {
        case .key(let key): browsing.press(key, rows: size.rows)
        case .resized: continue
        case .ended: return
        }
      }
    }
  }
}
