internal import ArborModel
internal import ArborStore

/// Values to set on many objects, by property name.
struct PropertyChanges {
  /// The values, sorted by name. The order matters for inverse relationships: the last one wins.
  private let values: [(key: String, value: PropertyValue)]

  init(_ values: [String: PropertyValue]) { self.values = values.sorted { $0.key < $1.key } }

  func apply(to object: ManagedObject) throws(ArborError) {
    for (key, value) in values { try object.setValue(value, forKey: key) }
  }

  /// Checks that the properties exist and accept the values, before any object is changed.
  ///
  /// - Throws: ``ArborError`` `unknownName`, `typeMismatch`, or `invalidArgument` for an object of
  ///   another store.
  func check(_ entity: EntitySchema, in store: StoreEngine) throws(ArborError) {
    for (key, value) in values {
      switch entity.property(named: key) {
      case .attribute(let attribute):
        let type = attribute.description.type
        if case .undefined = type { continue }
        guard type.fitting(value) == nil else { continue }
        throw entity.mismatch(key, value, type.expectation)
      case .relationship(let relationship):
        try check(value, for: relationship, of: entity, in: store)
      case nil: throw entity.unknownProperty(key)
      }
    }
  }

  private func check(
    _ value: PropertyValue, for relationship: RelationshipSchema, of entity: EntitySchema,
    in store: StoreEngine
  ) throws(ArborError) {
    var targets: [PropertyValue] = []
    switch value {
    case .null: break
    case .objectID where !relationship.isToMany: targets = [value]
    case .list(let members) where relationship.isToMany: targets = members
    default:
      throw entity.mismatch(
        relationship.name, value, relationship.isToMany ? "a list of object IDs" : "an object ID")
    }
    for target in targets {
      guard case .objectID(let id) = target else {
        throw entity.mismatch(relationship.name, value, "a list of object IDs")
      }
      do throws(StoreError) { _ = try store.objectNumber(id) } catch {
        throw ArborError(error, in: store).with(objectID: id)
      }
    }
  }
}

extension [PropertyPath: (any PredicateArgument)?] {
  /// Returns the values by property name.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if a key path isn't a modeled property.
  func valuesByName() throws(ArborError) -> [String: PropertyValue] {
    var values: [String: PropertyValue] = [:]
    for (path, value) in self { values[try path.text()] = value?.predicateValue ?? .null }
    return values
  }
}
