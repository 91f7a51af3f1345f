internal import ArborLocks
internal import ArborModel

/// The typed classes that models were created from in this process.
///
/// A model is a plain value and contains no classes. A store opened with a model created from typed
/// classes finds them here, so that its objects have those classes from the first fetch on,
/// whichever initializer was used. An entity with an identical description from another source is
/// treated as the same entity.
enum DescribedClasses {
  /// The classes by entity name, which is cheaper to hash than a whole description.
  private static let known = Lock<[String: [DescribedClass]]>([:])

  private struct DescribedClass: Sendable {
    let entity: EntityDescription
    let objectClass: ManagedObject.Type
  }

  static func remember(_ classes: [ManagedObject.Type], of model: ManagedObjectModel) {
    known.withLock { known in
      for objectClass in classes {
        let name = objectClass.entityDescription.name
        guard let entity = model.entity(named: name) else { continue }
        var described = known[name] ?? []
        described.removeAll { $0.entity == entity }
        described.append(DescribedClass(entity: entity, objectClass: objectClass))
        known[name] = described
      }
    }
  }

  /// Returns the classes to open a store with: the given ones, and for each other entity the class
  /// that describes it.
  static func complete(
    _ classes: [ManagedObject.Type], for model: ManagedObjectModel
  ) -> [ManagedObject.Type] {
    known.withLock { known in
      guard !known.isEmpty else { return classes }
      let named = Set(classes.map(\.entityDescription.name))
      var complete = classes
      for entity in model.entities where !named.contains(entity.name) {
        let described = known[entity.name]?.first { $0.entity == entity }
        if let described { complete.append(described.objectClass) }
      }
      return complete
    }
  }
}

/// The numbers of attributes and relationships described by a typed class, for classes that don't
/// provide them themselves.
///
/// A class written by hand may create its description on each access, and the counts are needed for
/// every access to a subclass's property, so they are computed once per class and process.
struct DescribedCounts: Sendable {
  let attributes: Int
  let relationships: Int

  private static let known = Lock<[ObjectIdentifier: DescribedCounts]>([:])

  /// Returns the counts of a class, including inherited properties.
  static func of(_ objectClass: ManagedObject.Type) -> DescribedCounts {
    let key = ObjectIdentifier(objectClass)
    if let counts = known.withLock({ $0[key] }) { return counts }
    let lineage = objectClass.describedLineage
    let counts = DescribedCounts(
      attributes: lineage.reduce(0) { $0 + $1.attributes.count },
      relationships: lineage.reduce(0) { $0 + $1.relationships.count })
    known.withLock { $0[key] = counts }
    return counts
  }
}
