import ArborJSON
import ArborBrowser
import ArborModel
import ArborObjects
import ArgumentParser
import Foundation

/// `serve`: shows a store in the web browser.
struct ServeVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Shows a store in a page of your web browser.",
    discussion: """
      Prints the address of a page with the store's schema, its objects, queries with their plans, \
      commits as they happen, and the health of its file. The page is served on this machine only, \
      to those who have the address: it holds a secret that is made anew each time. Nothing is \
      loaded from the network, and nothing can be changed without --write. Ends by Control-C, or \
      after half an hour without a request; an open History counts as one.
      """)

  @Argument(help: "The store.", completion: .file())
  var path: String

  @Flag(help: "Let the page change, insert and delete objects.")
  var write = false

  @Option(help: "The port on 127.0.0.1; any that is free where none is given.")
  var port: UInt16 = 0

  @Flag(help: "Answer with one JSON document.")
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
