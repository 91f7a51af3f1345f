import ArborModel
import ArborSource

/// The typed classes of a model as Swift source.
///
/// The classes describe the entities completely. The enumeration after them contains everything
/// else in the model, and recreates the entire model.
struct SwiftModelSource {
  enum Form {
    /// Classes as they would be written by hand.
    case expanded
    /// Classes with `@Entity`, which expands to the other form.
    case macros
  }

  let model: ManagedObjectModel
  let form: Form
  /// The prefix of the enumeration's name.
  let name: String
  /// The only entity whose class is printed, or `nil` for the entire model.
  var only: String?

  /// Returns the source.
  ///
  /// - Throws: ``InspectError`` if a property has the name of a member of `ManagedObject`.
  func text() throws -> String {
    let names = try ClassNames(model)
    let entities = model.entities.filter { only == nil || $0.name == only }
      .map { EntitySource($0, in: model, names) }
    let classes = entities.map { form == .macros ? $0.macroClass : $0.expandedClass }
    let imports = ["ArborData"] + (form == .macros ? ["ArborMacros"] : []) + ["Foundation"]
    return
      ([imports.map { "import \($0)" }.joined(separator: "\n")] + classes
      + (only == nil ? [whole(entities)] : [])).joined(separator: "\n\n")
  }

  /// Returns the enumeration that creates the model from the classes.
  private func whole(_ entities: [EntitySource]) -> String {
    let classes = entities.map { "\($0.className).self" }
    var arguments = ["for: classes"]
    if !model.versionIdentifier.isEmpty {
      arguments.append("versionIdentifier: \(SourceText.literal(model.versionIdentifier))")
    }
    var lines = [
      "/// The entire model: the classes above, and the parts of it that classes cannot declare.",
      "enum \(SourceText.typeName(name))Model {",
      "  static let classes: [ManagedObject.Type] = "
        + SourceText.list(classes, indentation: 2, taken: 45),
      "",
      "  static func make() throws(ArborError) -> ManagedObjectModel {",
    ]
    let call = "try ManagedObjectModel(\(arguments.joined(separator: ", ")))"
    let parts =
      model.composites.map(part)
      + model.configurations.sorted { $0.key < $1.key }
      .map(part) + model.fetchRequestTemplates.map { SourceText.call("FetchRequestTemplate", $0) }
    if parts.isEmpty {
      lines.append("    \(call)")
    } else {
      lines.append("    \(call) {")
      lines += parts.map { SourceText.indented($0, by: 6) }
      lines.append("    }")
    }
    return (lines + ["  }", "}"]).joined(separator: "\n")
  }

  private func part(_ composite: CompositeDescription) -> String {
    let parts = composite.attributes.map { attribute in
      SourceText.call(
        "AttributeDescription",
        [SourceText.literal(attribute.name), attribute.type.source]
          + (attribute.isOptional ? [".optional"] : [])
          + (attribute.defaultValue.isNull
            ? [] : [".default(\(ValueSource.dynamic(attribute.defaultValue)))"])
          + attribute.options, indentation: 2, shift: 6)
    }
    return "CompositeDescription(\(SourceText.literal(composite.name))) {\n"
      + parts.map { "  \($0)\n" }.joined() + "}"
  }

  private func part(_ configuration: (key: String, value: [String])) -> String {
    SourceText.call(
      "ManagedObjectModel.Configuration",
      [
        SourceText.literal(configuration.key),
        "entities: \(ValueSource.names(configuration.value))",
      ],
      indentation: 6)
  }
}

/// The names of the classes of a model's entities.
struct ClassNames {
  private var names: [String: String] = [:]

  /// - Throws: ``InspectError`` if a property has the name of a member of `ManagedObject`.
  init(_ model: ManagedObjectModel) throws {
    var taken: Set<String> = []
    for entity in model.entities {
      for name in entity.attributes.map(\.name) + entity.relationships.map(\.name)
      where reservedPropertyNames.contains(name) {
        throw InspectError.notFound(
          "\(entity.name).\(name) has the name of a member of ManagedObject and cannot be a "
            + "property of a typed class. Rename it in the model.")
      }
      // The last component of a class name with a module, or of an Objective-C class.
      let last = entity.className?.split(separator: ".").last.map(String.init)
      var name = SourceText.typeName(last ?? entity.name)
      if taken.contains(name) { name = SourceText.typeName(entity.name) }
      taken.insert(name)
      names[entity.name] = name
    }
  }

  /// Returns the identifier of an entity's class.
  subscript(entity: String) -> String { SourceText.identifier(names[entity] ?? entity) }
}
