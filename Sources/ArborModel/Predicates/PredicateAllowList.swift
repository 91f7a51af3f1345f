/// Which properties predicates from outside may name, by entity.
///
/// ```swift
/// var limits = PredicateLimits.untrusted
/// limits.allowedProperties = ["Employee": ["name", "age", "company"], "Company": ["name"]]
/// let filter = try FetchPredicate(format: textFromTheNetwork, limits: limits)
/// ```
///
/// Here `company.name == "Foo"` may be asked of employees, and neither their `salary` nor
/// `company.employees`: every name of a key path is looked up in the list of the entity that it is
/// a property of, as Foundation does with its `PredicateCodableConfiguration`. What an entity
/// allows, entities that inherit from it allow too. `objectID` and `entity` are names like others.
///
/// A name that is not in the list is refused when the predicate is used, in the same words whether
/// the model knows it or not; the error names what is allowed, and nothing else. Predicates that
/// are joined to one from outside are not bound by its list.
public struct PredicateAllowList: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// The names of the allowed properties by the names of their entities.
  public private(set) var properties: [String: Set<String>]

  /// Allows the given properties.
  ///
  /// - Parameter properties: Names of properties by the names of their entities.
  public init(_ properties: [String: Set<String>] = [:]) { self.properties = properties }

  /// Allows the given properties; of an entity that is named twice, both lists.
  public init(dictionaryLiteral elements: (String, Set<String>)...) {
    properties = Dictionary(elements) { $0.union($1) }
  }

  /// Allows a property beside those that are.
  ///
  /// - Parameters:
  ///   - name: The property's name.
  ///   - entity: The name of its entity, or of one that inherits from that.
  public mutating func allow(_ name: String, of entity: String) {
    properties[entity, default: []].insert(name)
  }
}

extension PredicateAllowList {
  /// What is allowed of an entity, sorted.
  func names(of entity: EntitySchema, in schema: ModelSchema) -> [String] {
    let lineage = entity.lineage.map { schema.entities[$0].name }
    return Set(lineage.flatMap { properties[$0] ?? [] }).sorted()
  }

  /// Why a name is refused; nil for one that is allowed.
  func refusal(of name: String, in entity: EntitySchema, _ schema: ModelSchema) -> String? {
    let allowed = names(of: entity, in: schema)
    if allowed.contains(name) { return nil }
    let start = "The property \"\(name)\" of \(entity.name) doesn't exist or isn't allowed. "
    return start
      + (allowed.isEmpty ? "No property is allowed." : "Use \(allowed.joined(separator: ", ")).")
  }
}
