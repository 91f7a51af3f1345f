import ArborStore
import ArgumentParser

/// `browse`: shows a store in the terminal.
struct BrowseVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "browse", abstract: "Browses a store in the terminal.",
    discussion: """
      Up and down, Page Up and Page Down, and Home and End select a row. Left and right scroll its \
      columns. Enter opens an entity or object or follows a relationship; Escape goes back. “/” \
      filters a list of objects by a predicate; an empty one shows all. “r” shows the commits of \
      other processes, and “q” quits. Nothing is written, and no snapshot is held between reads.
      """)

  @Argument(help: "The store.", completion: .file())
  var path: String

  @Flag(
    help: """
      Read without the lock file. Use this only if the lock file is not writable and no process \
      writes to the file.
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
