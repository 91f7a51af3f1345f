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
    commandName: "load", abstract: "Fills an empty store from documents. Writes to the file.",
    discussion: """
      Reads the output of “dump --ndjson” or any other seed in a single commit: all of it or \
      nothing. If the store doesn't exist, it is created with the model of --model or --like; an \
      existing store must be empty. The store is checked afterwards. A new store gets its name \
      only once it is complete.

      Example: lmdb-inspect load Test.arbor staff.ndjson --like Staff.arbor
      """)

  @Argument(help: "The store's file.", completion: .file())
  var path: String

  @Argument(help: "The documents. A file named .ndjson or .jsonl contains one per line.")
  var documents: [String]

  @Option(help: "The model of a new store: a .xcdatamodeld, .xcdatamodel or .model.json.")
  var model: String?

  @Option(help: "An existing store whose model is used for a new store.")
  var like: String?

  @Flag(help: "Allow documents to link to other documents on the network.")
  var remote = false

  @Flag(help: "Print one JSON document.")
  var json = false

  func validate() throws {
    if model != nil, like != nil { throw ValidationError("Use either --model or --like.") }
    if documents.isEmpty { throw ValidationError("Pass at least one document.") }
  }

  func run() throws {
    try reportAnswer(on: path, json: json) { printer in
      let report: SeedReport
      // An error in a document is an error of its file.
      do { report = try ProgressLine.showing("loading") { _ in try load() } } catch let error
        as ArborError
      {
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
