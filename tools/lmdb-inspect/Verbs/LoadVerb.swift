import ArborModelFiles
import ArborJSON
import ArborExchange
import ArborModel
import ArborObjects
import ArgumentParser
import Foundation

/// `load`: fills an empty store from documents.
struct LoadVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "load", abstract: "Fills an empty store from documents: writes to the file.",
    discussion: """
      Reads what “dump --ndjson” prints and any other seed, all of it or nothing. The store is \
      made where none exists, with the model of --model or --like; one that is there must be \
      empty. Everything is one commit, and the store is checked afterwards. A new store has its \
      name only once it is complete.
      """)

  @Argument(help: "The store's file.", completion: .file())
  var path: String

  @Argument(help: "The documents; a file named .ndjson or .jsonl holds one on each line.")
  var documents: [String]

  @Option(help: "For a new store: a .xcdatamodeld, .xcdatamodel or .model.json.")
  var model: String?

  @Option(help: "For a new store: another store, whose model it gets.")
  var like: String?

  @Flag(help: "Fetch what documents link to over the network.")
  var remote = false

  @Flag(help: "Answer with one JSON document.")
  var json = false

  func validate() throws {
    if model != nil, like != nil { throw ValidationError("Use either --model or --like.") }
    if documents.isEmpty { throw ValidationError("Pass at least one document.") }
  }

  func run() throws {
    try reportAnswer(on: path, json: json) { printer in
      let report: SeedReport
      // An error in a document is an error of its file.
      do { report = try load() } catch let error as ArborError {
        throw InspectError.unreadable("\(path): \(error)")
      }
      let names = report.created.keys.sorted()
      printer.print(
        json: .object(
          JSONObject(
            distinct: names.map { ($0, JSONValue(integerLiteral: Int64(report.created[$0] ?? 0))) })
        ),
        text: (names.map { "\($0)  \(report.created[$0] ?? 0)" }
          + [report.count == 1 ? "1 object" : "\(report.count) objects"]).joined(separator: "\n"))
    }
  }

  private func load() throws -> SeedReport {
    let url = URL(filePath: path)
    guard FileManager.default.fileExists(atPath: path) else {
      return try Interruption.removingUnfinishedFiles {
        try PersistentStore.make(try modelOfNewStore(), at: url, fill)
      }
    }
    let store = try PersistentStore(at: .file(url))
    defer { store.close() }
    return try fill(store)
  }

  private func fill(_ store: PersistentStore) throws -> SeedReport {
    let context = store.makeContext()
    for entity in store.model.entities where entity.parent == nil {
      guard try !context.exists(FetchRequest<ManagedObject>(entity: entity.name)) else {
        throw InspectError.notFound(
          "\(path) is not empty: it has objects of \(entity.name). Use a new file.")
      }
    }
    var options = SeedOptions()
    options.remote = remote ? .allowed : .refused
    // Documents named on the command line may be as large as memory permits.
    options.maximumSize = .max
    options.maximumObjects = .max
    options.maximumMembers = .max
    let report = try context.seed(
      from: documents.map { .file(URL(filePath: $0)) }, options: options)
    try context.commit()
    try store.check()
    return report
  }

  private func modelOfNewStore() throws -> ManagedObjectModel {
    if let like {
      var options = StoreOptions()
      options.isReadOnly = true
      let other = try PersistentStore(at: .file(URL(filePath: like)), options: options)
      defer { other.close() }
      return other.model
    }
    guard let model else {
      throw InspectError.unreadable(
        "\(path) doesn't exist. Set the model of a new store with --model or --like.")
    }
    return try ManagedObjectModel(contentsOf: URL(filePath: model))
  }
}
