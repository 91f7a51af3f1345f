extension ManagedObjectModel {
  /// A result builder for the parts of a model declared in code.
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
  /// Conditions and loops work as in other result builders.
  @resultBuilder
  public enum Builder {
    /// A part of a model.
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

    /// Adds an entity.
    public static func buildExpression(_ entity: EntityDescription) -> [Part] { [.entity(entity)] }
    /// Adds a named request.
    public static func buildExpression(_ template: FetchRequestTemplate) -> [Part] {
      [.template(template)]
    }
    /// Adds a composite type.
    public static func buildExpression(_ composite: CompositeDescription) -> [Part] {
      [.composite(composite)]
    }
    /// Adds a configuration.
    public static func buildExpression(_ configuration: ManagedObjectModel.Configuration) -> [Part]
    {
      [.configuration(configuration)]
    }
    /// Combines the parts of a block.
    public static func buildBlock(_ parts: [Part]...) -> [Part] { parts.flatMap { $0 } }
    /// Adds the parts of an `if` statement whose condition is met.
    public static func buildOptional(_ parts: [Part]?) -> [Part] { parts ?? [] }
    /// Adds the parts of the first branch.
    public static func buildEither(first parts: [Part]) -> [Part] { parts }
    /// Adds the parts of the second branch.
    public static func buildEither(second parts: [Part]) -> [Part] { parts }
    /// Adds the parts of each iteration of a loop.
    public static func buildArray(_ parts: [[Part]]) -> [Part] { parts.flatMap { $0 } }
  }
}

extension ManagedObjectModel {
  /// Creates a model from parts declared in code, and validates it.
  ///
  /// - Parameters:
  ///   - versionIdentifier: A label for this version of the model.
  ///   - parts: Entities, named requests, composite types and configurations.
  /// - Throws: ``ArborError`` `invalidModel` with one violation per problem.
  public init(
    versionIdentifier: String = "",
    @ManagedObjectModel.Builder _ parts: () -> [ManagedObjectModel.Builder.Part]
  ) throws(ArborError) {
    var model = ManagedObjectModel(entities: [], versionIdentifier: versionIdentifier)
    model.add(parts())
    self = try model.validated()
  }

  /// Adds parts without validating them.
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

    /// Creates a configuration.
    public init(_ name: String, entities: [String]) {
      self.name = name
      self.entities = entities
    }
  }
}
