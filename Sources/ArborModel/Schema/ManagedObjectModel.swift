package import ArborFoundation

/// The schema of a store: its entities, named requests, configurations and composite types.
///
/// A model is a value: models read from a file, built in code or read from a store are equal if
/// they have the same contents.
///
/// ## Topics
/// ### Entities
/// - ``entities``
/// - ``entity(named:)``
/// ### Files
/// - ``init(contentsOf:)``
/// - ``ModelDocument``
/// ### Named requests and configurations
/// - ``fetchRequestTemplates``
/// - ``configurations``
public struct ManagedObjectModel: Sendable {
  /// The entities, in declaration order.
  public var entities: [EntityDescription]
  /// The named fetch requests, in declaration order.
  public var fetchRequestTemplates: [FetchRequestTemplate]
  /// The names of the entities in each named configuration.
  public var configurations: [String: [String]]
  /// The composite types of attributes.
  public var composites: [CompositeDescription]
  /// The author's label for this version of the model.
  public var versionIdentifier: String
  /// The model's name: that of the file or bundle it was read from, without extension, or empty if
  /// it wasn't read from a file. Ignored when models are compared.
  public var name = ""
  /// The XML file that the model was read from, which is reused to write an unchanged model, or
  /// `nil` for any other origin. Ignored when models are compared.
  package var source: ModelSource?

  /// Creates a model without validating it; see ``validated()``.
  public init(
    entities: [EntityDescription], fetchRequestTemplates: [FetchRequestTemplate] = [],
    configurations: [String: [String]] = [:], composites: [CompositeDescription] = [],
    versionIdentifier: String = ""
  ) {
    self.entities = entities
    self.fetchRequestTemplates = fetchRequestTemplates
    self.configurations = configurations
    self.composites = composites
    self.versionIdentifier = versionIdentifier
  }

  /// Returns the entity with the given name, or `nil` if it doesn't exist.
  ///
  /// - Complexity: Linear in the number of entities.
  public func entity(named name: String) -> EntityDescription? {
    entities.first { $0.name == name }
  }
}

extension ManagedObjectModel: Hashable {
  /// Returns whether two models have the same contents, regardless of their origin.
  public static func == (left: Self, right: Self) -> Bool {
    left.entities == right.entities && left.fetchRequestTemplates == right.fetchRequestTemplates
      && left.configurations == right.configurations && left.composites == right.composites
      && left.versionIdentifier == right.versionIdentifier
  }

  /// Hashes the model's contents.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(entities)
    hasher.combine(fetchRequestTemplates)
    hasher.combine(configurations)
    hasher.combine(composites)
    hasher.combine(versionIdentifier)
  }
}

/// A composite attribute type: named parts that are stored in one attribute.
public struct CompositeDescription: Sendable, Hashable {
  /// The type's name.
  public var name: String
  /// The parts, in order. A part can be composite itself.
  public var attributes: [AttributeDescription]

  /// Creates a composite type from its parts.
  ///
  /// ```swift
  /// CompositeDescription("Address") {
  ///   AttributeDescription("street", .string)
  ///   AttributeDescription("city", .string)
  /// }
  /// ```
  public init(
    _ name: String, @EntityDescription.Builder _ parts: () -> [EntityDescription.Builder.Property]
  ) {
    self.init(name: name, attributes: parts().compactMap(\.attribute))
  }

  /// Creates a composite type from a name and attributes. Used by parsers of model files.
  public init(name: String, attributes: [AttributeDescription]) {
    self.name = name
    self.attributes = attributes
  }
}

/// A named fetch request of a model, whose predicate can contain `$variables`.
public struct FetchRequestTemplate: Sendable, Hashable {
  /// The request's name, unique in its model.
  public var name: String
  /// The name of the entity to fetch.
  public var entity: String
  /// The predicate's text, or `nil` to fetch all objects.
  public var predicate: String?
  /// The maximum number of results, or 0 for no limit.
  public var fetchLimit: Int
  /// The number of objects to read at a time, or 0 for all.
  public var fetchBatchSize: Int
  /// A Boolean value that indicates whether objects of subentities are included.
  public var includesSubentities: Bool
  /// A Boolean value that indicates whether the context's uncommitted changes are included.
  public var includesPendingChanges: Bool
  /// A Boolean value that indicates whether duplicate rows are omitted.
  public var returnsDistinctResults: Bool
  /// The form of the results.
  public var resultType: ResultType

  /// The form of a request's results.
  public enum ResultType: Int, Sendable, Hashable {
    /// Objects.
    case objects = 0
    /// Object IDs.
    case objectIDs = 1
    /// Rows of the requested properties.
    case rows = 2
  }

  /// Creates a named request.
  public init(
    name: String, entity: String, predicate: String? = nil, fetchLimit: Int = 0,
    fetchBatchSize: Int = 0, includesSubentities: Bool = true, includesPendingChanges: Bool = true,
    returnsDistinctResults: Bool = false, resultType: ResultType = .objects
  ) {
    self.name = name
    self.entity = entity
    self.predicate = predicate
    self.fetchLimit = fetchLimit
    self.fetchBatchSize = fetchBatchSize
    self.includesSubentities = includesSubentities
    self.includesPendingChanges = includesPendingChanges
    self.returnsDistinctResults = returnsDistinctResults
    self.resultType = resultType
  }

  /// Creates a named request for a model declared in code; see ``ManagedObjectModel/Builder``.
  ///
  /// - Parameters:
  ///   - name: The request's name, unique in its model.
  ///   - entity: The name of the entity to fetch.
  ///   - predicate: The predicate's text, which can contain `$variables`, or `nil` to fetch all
  ///     objects.
  ///   - limit: The maximum number of results, or 0 for no limit.
  ///   - includesSubentities: Whether objects of subentities are included.
  public init(
    _ name: String, entity: String, predicate: String? = nil, limit: Int = 0,
    includesSubentities: Bool = true
  ) {
    self.init(
      name: name, entity: entity, predicate: predicate, fetchLimit: limit,
      includesSubentities: includesSubentities)
  }
}

/// The file contents that a model was read from, and the model at that time.
package final class ModelSource: Sendable {
  /// The bytes of the `contents` file.
  package let contents: Data
  package let model: ManagedObjectModel

  package init(contents: Data, model: ManagedObjectModel) {
    self.contents = contents
    self.model = model
  }
}
