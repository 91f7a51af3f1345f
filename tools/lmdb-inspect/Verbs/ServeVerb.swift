import ArborBrowser
import ArborJSON
import ArborModel
import ArborObjects
import ArgumentParser
import Foundation

/// `serve`: shows a store or an LMDB file in the web browser.
struct ServeVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Shows a store or LMDB file in your web browser.",
    discussion: """
      Prints the address of a page with the store's schema, its objects, queries with their plans, \
      commits as they happen, and the health of its file. The page is served on this machine only. \
      Its address contains a secret that changes with each run. Nothing is loaded from the network, \
      and nothing can be changed without --write. Press Control-C to stop. Stops after half an \
      hour without a request, unless a History page is open. LMDB files of other programs are shown \
      by tables, keys and values, and cannot be changed.

      With --port, addresses of the page can be bookmarked. A bookmark does not contain the secret: \
      it opens once the printed address is open in another tab, or after you paste it.

      Example: lmdb-inspect serve Staff.arbor --port 8080
      """)

  @Argument(
    help: "The store or LMDB file, or a folder that contains data.mdb.", completion: .file())
  var path: String

  @Flag(help: "Allow the page to insert, change and delete objects.")
  var write = false

  @Option(help: "The port on 127.0.0.1, or 0 for any free port.")
  var port: UInt16 = 0

  @Option(
    help: ArgumentHelp(
      "A model to compare with the store's on the Schema page: a .xcdatamodeld, .xcdatamodel or "
        + ".model.json.", valueName: "model"), completion: .file())
  var against: String?

  @Flag(help: "Print one JSON document.")
  var json = false

  func run() throws {
    try reportAnswer(on: path, json: json) { printer in
      let compared = try against.map { path in
        let url = URL(filePath: path)
        return ComparedModel(
          name: url.lastPathComponent, model: try ManagedObjectModel(readFrom: url))
      }
      let store: PersistentStore
      do { store = try openStore() } catch {
        // Checked only now, so that a store isn't opened twice.
        guard let file = try? InspectedFile(path: path, isImmutable: false), file.isForeign else {
          throw error
        }
        return try serve(file, &printer)
      }
      defer { store.close() }
      var serving = StoreBrowser.Options()
      serving.allowsWriting = write
      serving.port = port
      serving.shelf = QueryShelf(store: store.id)
      serving.compared = compared
      let browser = try StoreBrowser(store, options: serving)
      announce(browser.url, &printer)
      browser.waitUntilStopped()
    }
  }

  private func openStore() throws -> PersistentStore {
    var options = StoreOptions()
    options.isReadOnly = !write
    options.compactsWhenClosed = false
    return try PersistentStore(at: .path(path), options: options)
  }

  private func serve(_ file: InspectedFile, _ printer: inout Printer) throws {
    guard against == nil else {
      throw InspectError.unreadable(
        "\(path) is another program's LMDB file and has no model. Omit --against.")
    }
    guard !write else {
      throw InspectError.unreadable(
        "\(path) is another program's LMDB file and can only be read. Omit --write.")
    }
    let browser = try FileBrowser(file.environment, path: file.path, port: port)
    announce(browser.url, &printer)
    browser.waitUntilStopped()
  }

  private func announce(_ url: URL, _ printer: inout Printer) {
    printer.print(json: ["url": .string(url.absoluteString)], text: url.absoluteString)
    printer.flush()
  }
}
