package import Foundation

/// The entities a store keeps, with everything that a model file says about them.
///
/// A model is a value: reading one from a file, building one in code and taking one from a store
/// give equal models when they say the same.
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
  /// The entities, in the order of the model.
  public var entities: [EntityDescription]
  /// The named fetch requests, in the order of the model.
  public var fetchRequestTemplates: [FetchRequestTemplate]
  /// The names of the entities in each named configuration.
  public var configurations: [String: [String]]
  /// The composite types that attributes name.
  public var composites: [CompositeDescription]
  /// The label the model's author gave this version.
  public var versionIdentifier: String
  /// The model's name: that of the file or bundle it was read from, without its extension; empty
  /// for a model that comes from no file. It says nothing about the model, so equality leaves it
  /// out.
  public var name = ""
  /// The file the model was read from, which a model that has not changed is written back as. It
  /// says nothing about the model, so equality leaves it out.
  package var source: ModelSource?

  /// Makes a model; nothing is checked before ``validated()``.
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

  /// The entity of a name, or nil. Linear in the number of entities.
  public func entity(named name: String) -> EntityDescription? {
    entities.first { $0.name == name }
  }
}

extension ManagedObjectModel: Hashable {
  /// Whether two models say the same, wherever they come from.
  public static func == (left: Self, right: Self) -> Bool {
    left.entities == right.entities && left.fetchRequestTemplates == right.fetchRequestTemplates
      && left.configurations == right.configurations && left.composites == right.composites
      && left.versionIdentifier == right.versionIdentifier
  }

  /// Feeds what the model says into a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(entities)
    hasher.combine(fetchRequestTemplates)
    hasher.combine(configurations)
    hasher.combine(composites)
    hasher.combine(versionIdentifier)
  }
}

/// A composite attribute type: named parts that are kept in one attribute.
public struct CompositeDescription: Sendable, Hashable {
  /// The type's name.
  public var name: String
  /// The parts, in order; a part may be composite itself.
  public var attributes: [AttributeDescription]

  /// Describes a composite type by its parts.
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

  /// Describes a composite type by name and attributes, as readers of model files do.
  public init(name: String, attributes: [AttributeDescription]) {
    self.name = name
    self.attributes = attributes
  }
}

/// A named fetch request of a model, whose predicate may hold `$variables`.
public struct FetchRequestTemplate: Sendable, Hashable {
  /// The request's name, unique in its model.
  public var name: String
  /// The name of the entity it fetches.
  public var entity: String
  /// The predicate's text; nil fetches everything.
  public var predicate: String?
  /// The greatest number of results; 0: all.
  public var fetchLimit: Int
  /// How many objects are read at a time; 0: all.
  public var fetchBatchSize: Int
  /// Whether objects of subentities are results too.
  public var includesSubentities: Bool
  /// Whether uncommitted changes of the context are seen.
  public var includesPendingChanges: Bool
  /// Whether rows that equal an earlier one are left out.
  public var returnsDistinctResults: Bool
  /// Whether the results are objects, IDs or rows.
  public var resultType: ResultType

  /// The form of a request's results.
  public enum ResultType: Int, Sendable, Hashable {
    /// Objects.
    case objects = 0
    /// Object IDs.
    case objectIDs = 1
    /// Rows of the properties asked for.
    case rows = 2
  }

  /// Describes a named request.
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

  /// Names a request, for a model written in code; see ``ManagedObjectModel/Builder``.
  ///
  /// - Parameters:
  ///   - name: The request's name, unique in its model.
  ///   - entity: The name of the entity it fetches.
  ///   - predicate: The predicate's text, which may hold `$variables`; nil fetches everything.
  ///   - limit: The greatest number of results; 0: all.
  ///   - includesSubentities: Whether objects of subentities are results too.
  public init(
    _ name: String, entity: String, predicate: String? = nil, limit: Int = 0,
    includesSubentities: Bool = true
  ) {
    self.init(
      name: name, entity: entity, predicate: predicate, fetchLimit: limit,
      includesSubentities: includesSubentities)
  }
}

/// The text a model was read from, with what it said then.
package final class ModelSource: Sendable {
  /// The bytes of the `contents` file.
  package let contents: Data
  package let model: ManagedObjectModel

  package init(contents: Data, model: ManagedObjectModel) {
    self.contents = contents
    self.model = model
  }
}
