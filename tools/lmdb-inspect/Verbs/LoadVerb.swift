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
      empty. Everything is one commit, and the store is checked afterwards.
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
    if model != nil, like != nil { throw ValidationError("Give --model or --like, not both.") }
    if documents.isEmpty { throw ValidationError("Name at least one document.") }
  }

  func run() throws {
    do {
      let report = try load()
      var printer = Printer(isJSON: json)
      defer { printer.flush() }
      let names = report.created.keys.sorted()
      printer.print(
        json: .object(
          JSONObject(
            distinct: names.map { ($0, JSONValue(integerLiteral: Int64(report.created[$0] ?? 0))) })
        ),
        text: (names.map { "\($0)  \(report.created[$0] ?? 0)" }
          + [report.count == 1 ? "1 object" : "\(report.count) objects"]).joined(separator: "\n"))
    } catch {
      let reason = error as? InspectError ?? .unreadable("\(path): \(error)")
      FileHandle.standardError.write(Data("lmdb-inspect: \(reason)\n".utf8))
      throw ExitCode(reason.code.rawValue)
    }
  }

  private func load() throws -> SeedReport {
    let url = URL(filePath: path)
    let isNew = !FileManager.default.fileExists(atPath: path)
    let store = try isNew ? makeStore(at: url) : PersistentStore(at: .file(url))
    do {
      let report = try fill(store)
      store.close()
      return report
    } catch {
      if isNew { try? store.destroy() } else { store.close() }
      throw error
    }
  }

  private func fill(_ store: PersistentStore) throws -> SeedReport {
    let context = store.makeContext()
    for entity in store.model.entities where entity.parent == nil {
      guard try !context.exists(FetchRequest<ManagedObject>(entity: entity.name)) else {
        throw InspectError.notFound(
          "\(path) is not empty: it has objects of \(entity.name). Name a file that is not there.")
      }
    }
    var options = SeedOptions()
    options.remote = remote ? .allowed : .refused
    // What somebody types by hand may be as large as memory allows.
    options.maximumSize = .max
    options.maximumObjects = .max
    options.maximumMembers = .max
    let report = try context.seed(
      from: documents.map { .file(URL(filePath: $0)) }, options: options)
    try context.commit()
    try store.check()
    return report
  }

  private func makeStore(at url: URL) throws -> PersistentStore {
    if let like {
      var options = StoreOptions()
      options.isReadOnly = true
      let other = try PersistentStore(at: .file(URL(filePath: like)), options: options)
      defer { other.close() }
      return try PersistentStore(model: other.model, at: .file(url))
    }
    guard let model else {
      throw InspectError.notFound(
        "There is no store \(path); say which model a new one gets, by --model or --like.")
    }
    return try PersistentStore(
      model: try ManagedObjectModel(contentsOf: URL(filePath: model)), at: .file(url))
  }
}
