import ArborBrowser
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
      enumeration that creates the whole model from them. --svg and --mermaid draw the entities. \
      With --against, the differences from another model are printed or drawn: “+” marks what only \
      the other model has, “−” what it doesn't have, and “~” what differs.

      Example: lmdb-inspect schema Staff.arbor --macros

      Example: lmdb-inspect schema Staff.arbor --against Staff.xcdatamodeld --svg staff.svg
      """)

  @OptionGroup var target: FileArguments

  @Argument(
    help: "The entity. The default is all entities.", completion: StoreCompletion.entities)
  var entity: String?

  @Flag(help: "Print typed classes without macros, as if written by hand.")
  var swift = false

  @Flag(help: "Print typed classes with @Entity.")
  var macros = false

  @Option(
    help: ArgumentHelp(
      "Show the differences from another model: a .xcdatamodeld, .xcdatamodel or .model.json.",
      valueName: "model"), completion: .file())
  var against: String?

  @Option(
    help: ArgumentHelp("Draw the entities in a new SVG file.", valueName: "file"),
    completion: .file())
  var svg: String?

  @Flag(help: "Print a class diagram for Mermaid.")
  var mermaid = false

  func validate() throws {
    if against != nil, entity != nil || swift || macros {
      throw ValidationError(
        "--against compares whole models. Omit the entity, --swift and --macros.")
    }
  }

  func run() throws {
    guard let file = modelFile else { return try inspect() }
    try report { printer in try answer(ManagedObjectModel(readFrom: file), &printer) }
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
    let other = try against.map { try ManagedObjectModel(readFrom: URL(filePath: $0)) }
    let difference = other.map { SchemaDifference(from: model, to: $0) }
    let drawing = difference ?? SchemaDifference(model)
    try draw(drawing)
    let text: String
    if mermaid {
      text = MermaidDiagram(drawing).text
    } else if let difference {
      text = DifferenceText(difference: difference).text
    } else if swift || macros {
      let stem = URL(filePath: target.path).lastPathComponent.prefix { $0 != "." }
      text = try SwiftModelSource(
        model: whole, form: macros ? .macros : .expanded, name: String(stem), only: entity
      ).text()
    } else {
      text = SchemaText(model: model).text
    }
    try printer.print(json: difference?.json ?? Self.json(of: model), text: text)
  }

  private func draw(_ schema: SchemaDifference) throws {
    guard let svg else { return }
    let names = [target.path, against].compactMap { $0 }.map { URL(filePath: $0).lastPathComponent }
    try Interruption.removingUnfinishedFiles {
      let file = try OutputFile(svg, source: target.path)
      let picture = SchemaPicture(title: names.joined(separator: " → "), schema: schema)
      try file.write(Array(picture.svg.utf8))
      try file.finish()
    }
  }

  private static func json(of model: ManagedObjectModel) throws -> JSONValue {
    try JSONValue.parse(model.jsonData())
  }
}

extension ManagedObjectModel {
  /// Reads a model file that a user has named.
  init(readFrom url: URL) throws(InspectError) {
    do throws(ArborError) { self = try ManagedObjectModel(contentsOf: url) } catch {
      throw InspectError.unreadable(error.message)
    }
  }
}
