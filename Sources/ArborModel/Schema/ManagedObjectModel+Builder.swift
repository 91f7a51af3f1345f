extension ManagedObjectModel {
  /// Collects the parts of a model that is written in code.
  ///
  /// ```swift
  /// let model = try ManagedObjectModel {
  ///   EntityDescription("Company") {
  ///     AttributeDescription("companyName", .string, .indexed, .default(""))
  ///     RelationshipDescription(
  ///       "employees", to: "Employee", inverse: "company", .toMany, deleteRule: .cascade)
  ///   }
  ///   EntityDescription("Employee") {
  ///     AttributeDescription("age", .integer16, .bounds(0...150))
  ///     RelationshipDescription("company", to: "Company", inverse: "employees")
  ///   }
  ///   FetchRequestTemplate("adults", entity: "Employee", predicate: "age >= 18")
  /// }
  /// ```
  ///
  /// Conditions and loops work as in other builders.
  @resultBuilder
  public enum Builder {
    /// One part of a model.
    public enum Part: Sendable {
      /// An entity.
      case entity(EntityDescription)
      /// A named request.
      case template(FetchRequestTemplate)
      /// A composite attribute type.
      case composite(CompositeDescription)
      /// A named subset of the entities.
      case configuration(ManagedObjectModel.Configuration)
    }

    /// Takes an entity in.
    public static func buildExpression(_ entity: EntityDescription) -> [Part] { [.entity(entity)] }
    /// Takes a named request in.
    public static func buildExpression(_ template: FetchRequestTemplate) -> [Part] {
      [.template(template)]
    }
    /// Takes a composite type in.
    public static func buildExpression(_ composite: CompositeDescription) -> [Part] {
      [.composite(composite)]
    }
    /// Takes a configuration in.
    public static func buildExpression(_ configuration: ManagedObjectModel.Configuration) -> [Part]
    {
      [.configuration(configuration)]
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
}

extension ManagedObjectModel {
  /// Makes a model from parts written in code, and checks it.
  ///
  /// - Parameters:
  ///   - versionIdentifier: A label for this version of the model.
  ///   - parts: Entities, named requests, composite types and configurations.
  /// - Throws: ``ArborError`` with code `invalidModel` and every problem as a violation.
  public init(
    versionIdentifier: String = "",
    @ManagedObjectModel.Builder _ parts: () -> [ManagedObjectModel.Builder.Part]
  ) throws(ArborError) {
    var model = ManagedObjectModel(entities: [], versionIdentifier: versionIdentifier)
    model.add(parts())
    self = try model.validated()
  }

  /// Adds parts; nothing is checked.
  package mutating func add(_ parts: [ManagedObjectModel.Builder.Part]) {
    for part in parts {
      switch part {
      case .entity(let entity): entities.append(entity)
      case .template(let template): fetchRequestTemplates.append(template)
      case .composite(let composite): composites.append(composite)
      case .configuration(let part): configurations[part.name, default: []] += part.entities
      }
    }
  }
}

extension ManagedObjectModel {
  /// A named subset of a model's entities.
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
}
