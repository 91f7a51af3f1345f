import ArborModelFiles
import ArborJSON
import ArborModel
import ArborStore
import ArgumentParser
import Foundation

/// `schema`: prints the model of a store or of a model file, also as typed classes.
struct SchemaVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Prints the model of a store or model file, optionally as Swift classes.",
    discussion: """
      Reads stores as well as .xcdatamodeld, .xcdatamodel and .model.json. With --swift or \
      --macros, it prints a Swift source file with a typed class for each entity and an \
      enumeration that creates the whole model from them.

      Example: lmdb-inspect schema Staff.arbor --macros
      """)

  @OptionGroup var target: FileArguments

  @Argument(
    help: "The entity. The default is all entities.", completion: StoreCompletion.entities)
  var entity: String?

  @Flag(help: "Print typed classes without macros, as if written by hand.")
  var swift = false

  @Flag(help: "Print typed classes with @Entity.")
  var macros = false

  func run() throws {
    guard let file = modelFile else { return try inspect() }
    try report { printer in
      let model: ManagedObjectModel
      do throws(ArborError) { model = try ManagedObjectModel(contentsOf: file) } catch {
        throw InspectError.unreadable(error.message)
      }
      try answer(model, &printer)
    }
  }

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    try answer(file.requireStore().schema.model, &printer)
  }

  /// The URL of the model file, or `nil` for a store.
  private var modelFile: URL? {
    let url = URL(filePath: target.path)
    let isModel = ["xcdatamodeld", "xcdatamodel", "json"].contains(url.pathExtension.lowercased())
    return isModel ? url : nil
  }

  private func answer(_ whole: ManagedObjectModel, _ printer: inout Printer) throws {
    var model = whole
    if let entity {
      guard let only = model.entity(named: entity) else {
        throw InspectError.unknownEntity(entity, among: model.entities.map(\.name))
      }
      model.entities = [only]
      model.fetchRequestTemplates.removeAll { $0.entity != entity }
    }
    let text: String
    if swift || macros {
      let stem = URL(filePath: target.path).lastPathComponent.prefix { $0 != "." }
      text = try SwiftModelSource(
        model: whole, form: macros ? .macros : .expanded, name: String(stem), only: entity
      ).text()
    } else {
      text = SchemaText(model: model).text
    }
    try printer.print(json: Self.json(of: model), text: text)
  }

  private static func json(of model: ManagedObjectModel) throws -> JSONValue {
    try JSONValue.parse(model.jsonData())
  }
}
