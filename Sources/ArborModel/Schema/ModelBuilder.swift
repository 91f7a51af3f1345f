/// Collects the parts of a model that is written in code.
///
/// ```swift
/// let model = try ManagedObjectModel {
///   Entity("Company") {
///     Attribute("companyName", .string, .indexed, .default(""))
///     Relationship(
///       "employees", to: "Employee", inverse: "company", .toMany, deleteRule: .cascade)
///   }
///   Entity("Employee") {
///     Attribute("age", .integer16, .bounds(0...150))
///     Relationship("company", to: "Company", inverse: "employees")
///   }
///   FetchRequestTemplate("adults", entity: "Employee", predicate: "age >= 18")
/// }
/// ```
///
/// Conditions and loops work as in other builders.
@resultBuilder
public enum ModelBuilder {
  /// One part of a model.
  public enum Part: Sendable {
    /// An entity.
    case entity(EntityDescription)
    /// A named request.
    case template(FetchRequestTemplate)
    /// A composite attribute type.
    case composite(CompositeDescription)
    /// A named subset of the entities.
    case configuration(String, [String])
  }

  /// Takes an entity in.
  public static func buildExpression(_ entity: Entity) -> [Part] { [.entity(entity.description)] }
  /// Takes an entity's description in.
  public static func buildExpression(_ entity: EntityDescription) -> [Part] { [.entity(entity)] }
  /// Takes a named request in.
  public static func buildExpression(_ template: FetchRequestTemplate) -> [Part] {
    [.template(template)]
  }
  /// Takes a composite type in.
  public static func buildExpression(_ composite: Composite) -> [Part] {
    [.composite(composite.description)]
  }
  /// Takes a configuration in.
  public static func buildExpression(_ configuration: Configuration) -> [Part] {
    [.configuration(configuration.name, configuration.entities)]
  }
  /// Puts parts one after another.
  public static func buildBlock(_ parts: [Part]...) -> [Part] { parts.flatMap { $0 } }
  /// Takes the parts of a condition that held.
  public static func buildOptional(_ parts: [Part]?) -> [Part] { parts ?? [] }
  /// Takes the parts of the first branch.
  public static func buildEither(first parts: [Part]) -> [Part] { parts }
  /// Takes the parts of the other branch.
  public static func buildEither(second parts: [Part]) -> [Part] { parts }
  /// Takes the parts of each round of a loop.
  public static func buildArray(_ parts: [[Part]]) -> [Part] { parts.flatMap { $0 } }
}

extension ManagedObjectModel {
  /// Makes a model from parts written in code, and checks it.
  ///
  /// - Parameters:
  ///   - versionIdentifier: A label for this version of the model.
  ///   - parts: Entities, named requests, composite types and configurations.
  /// - Throws: ``ArborError`` with code `invalidModel` and every problem as a violation.
  public init(
    versionIdentifier: String = "", @ModelBuilder _ parts: () -> [ModelBuilder.Part]
  ) throws(ArborError) {
    var model = ManagedObjectModel(entities: [], versionIdentifier: versionIdentifier)
    model.add(parts())
    self = try model.validated()
  }

  /// Adds parts; nothing is checked.
  package mutating func add(_ parts: [ModelBuilder.Part]) {
    for part in parts {
      switch part {
      case .entity(let entity): entities.append(entity)
      case .template(let template): fetchRequestTemplates.append(template)
      case .composite(let composite): composites.append(composite)
      case .configuration(let name, let entities): configurations[name, default: []] += entities
      }
    }
  }
}

/// A composite attribute type of a model written in code; see ``ModelBuilder``.
///
/// ```swift
/// Composite("Address") {
///   Attribute("street", .string)
///   Attribute("city", .string)
/// }
/// ```
public struct Composite: Sendable {
  /// What the type says.
  public var description: CompositeDescription

  /// Names a composite type and its parts.
  public init(_ name: String, @EntityBuilder _ parts: () -> [EntityBuilder.Part]) {
    description = CompositeDescription(name: name, attributes: parts().compactMap(\.attribute))
  }
}

/// A named subset of a model's entities, for a model written in code; see ``ModelBuilder``.
public struct Configuration: Sendable {
  /// The configuration's name.
  public var name: String
  /// The names of its entities.
  public var entities: [String]

  /// Names a subset of the model's entities.
  public init(_ name: String, entities: [String]) {
    self.name = name
    self.entities = entities
  }
}
