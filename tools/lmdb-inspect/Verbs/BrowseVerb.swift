import ArborObjects
import ArborStore
import ArgumentParser

/// `browse`: shows a store in the terminal.
struct BrowseVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "browse", abstract: "Browses a store or LMDB file in the terminal.",
    discussion: """
      The arrow keys select a row and scroll its columns. Enter opens an entity, an object, a \
      relationship or a value; Escape goes back. “/” filters objects by a predicate, “s” sorts \
      them, and “o” opens queries. “x” and “j” show a value as bytes and as JSON, “y” copies a row \
      to the clipboard, “?” shows all keys, and “q” quits. Commits of other processes are shown \
      within a second. Nothing is written to the file, and no snapshot is held between reads. LMDB \
      files of other programs are shown by tables, keys and values.

      Example: lmdb-inspect browse Staff.arbor
      """)

  @Argument(help: "The store or LMDB file.", completion: .file())
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
      if let problem = file.problem { throw problem }
      let store = file.store == nil ? nil : try file.openStore()
      defer { store?.close() }
      var browsing = try StoreBrowsing(file, store)
      let terminal = try Terminal()
      defer { terminal.restore() }
      var shown = ""
      while !browsing.isOver {
        let size = terminal.size
        let text = browsing.frame(size).text(size)
        if text != shown { terminal.write(text) }
        shown = text
        switch terminal.event() {
        case .key(let key): browsing.press(key, rows: size.rows)
        case .idle: browsing.refresh()
        case .resized: shown = ""
        case .ended: return
        }
        if let text = browsing.takeCopy(), !terminal.copy(text) { browsing.refuseCopy() }
      }
    }
  }
}
