/// The properties that untrusted predicates may use, by entity.
///
/// ```swift
/// var limits = PredicateLimits.untrusted
/// limits.allowedProperties = ["Employee": ["name", "age", "company"], "Company": ["name"]]
/// let filter = try FetchPredicate(format: textFromTheNetwork, limits: limits)
/// ```
///
/// This allows `company.name == "Foo"` for employees, but neither `salary` nor `company.employees`.
/// As in Foundation's `PredicateCodableConfiguration`, every name in a key path is looked up in the
/// list of the entity that it is read from. Subentities inherit the lists of their ancestors.
/// `objectID` and `entity` must be listed, too.
///
/// A name that isn't listed is rejected when the predicate is used. The error is the same whether
/// or not the name exists in the model, and lists only the allowed names. Predicates that are
/// combined with an untrusted one are not restricted by its list.
public struct PredicateAllowList: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// The names of the allowed properties, by entity name.
  public private(set) var properties: [String: Set<String>]

  /// Creates a list that allows the given properties.
  ///
  /// - Parameter properties: Property names by entity name.
  public init(_ properties: [String: Set<String>] = [:]) { self.properties = properties }

  /// Creates a list that allows the given properties. Lists of the same entity are merged.
  public init(dictionaryLiteral elements: (String, Set<String>)...) {
    properties = Dictionary(elements) { $0.union($1) }
  }

  /// Allows an additional property.
  ///
  /// - Parameters:
  ///   - name: The property's name.
  ///   - entity: The name of the entity that has the property. Subentities inherit the permission.
  public mutating func allow(_ name: String, of entity: String) {
    properties[entity, default: []].insert(name)
  }
}

extension PredicateAllowList {
  /// Returns the allowed names of an entity, sorted.
  func names(of entity: EntitySchema, in schema: ModelSchema) -> [String] {
    let lineage = entity.lineage.map { schema.entities[$0].name }
    return Set(lineage.flatMap { properties[$0] ?? [] }).sorted()
  }

  /// Returns a message that rejects a name, or `nil` if the name is allowed.
  func refusal(of name: String, in entity: EntitySchema, _ schema: ModelSchema) -> String? {
    let allowed = names(of: entity, in: schema)
    if allowed.contains(name) { return nil }
    let start = "The property \"\(name)\" of \(entity.name) doesn't exist or isn't allowed. "
    return start
      + (allowed.isEmpty ? "No property is allowed." : "Use \(allowed.joined(separator: ", ")).")
  }
}
