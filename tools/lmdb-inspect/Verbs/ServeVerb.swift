import ArborJSON
import ArborBrowser
import ArborModel
import ArborObjects
import ArgumentParser
import Foundation

/// `serve`: shows a store in the web browser.
struct ServeVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Shows a store in your web browser.",
    discussion: """
      Prints the address of a page with the store's schema, its objects, queries with their plans, \
      commits as they happen, and the health of its file. The page is served on this machine only. \
      Its address contains a secret that changes each time. Nothing is loaded from the network, \
      and nothing can be changed without --write. Press Control-C to stop. Stops after half an \
      hour without a request, unless a History page is open.

      Example: lmdb-inspect serve Staff.arbor --port 8080
      """)

  @Argument(help: "The store.", completion: .file())
  var path: String

  @Flag(help: "Allow the page to insert, change and delete objects.")
  var write = false

  @Option(help: "The port on 127.0.0.1, or 0 for any free port.")
  var port: UInt16 = 0

  @Flag(help: "Print one JSON document.")
  var json = false

  func run() throws {
    try reportAnswer(on: path, json: json) { printer in
      var options = StoreOptions()
      options.isReadOnly = !write
      options.compactsWhenClosed = false
      let store = try PersistentStore(at: .path(path), options: options)
      defer { store.close() }
      var serving = StoreBrowser.Options()
      serving.allowsWriting = write
      serving.port = port
      let browser = try StoreBrowser(store, options: serving)
      printer.print(
        json: ["url": .string(browser.url.absoluteString)], text: browser.url.absoluteString)
      printer.flush()
      browser.waitUntilStopped()
    }
  }
}
