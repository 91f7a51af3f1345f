import ArborModel
import ArborStore
import ArgumentParser

/// `schema`: the model that a store carries.
struct SchemaVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Prints the model that a store carries.")

  @OptionGroup var target: FileArguments

  @Argument(help: "One entity; all where none is named.")
  var entity: String?

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    var model = try file.requireStore().schema.model
    if let entity {
      guard let only = model.entity(named: entity) else {
        let nearest =
          NearestName.of(entity, in: model.entities.map(\.name))
          .map { " Did you mean “\($0)”?" } ?? ""
        throw InspectError.notFound("The model has no entity “\(entity)”.\(nearest)")
      }
      model.entities = [only]
      model.fetchRequestTemplates.removeAll { $0.entity != entity }
    }
    try printer.print(json: Self.json(of: model), text: SchemaText(model: model).text)
  }

  private static func json(of model: ManagedObjectModel) throws -> JSONValue {
    try JSONValue.parse(model.jsonData())
  }
}
