internal import ArborLocks
internal import ArborModel

/// The typed classes that models were made from in this process.
///
/// A model is a plain value and holds no classes. A store that is opened with a model from typed
/// classes finds them here again, so that its objects are of those classes from the first fetch on,
/// whichever initialiser opened it. An entity that somebody else describes in exactly the same
/// words is the same entity.
enum DescribedClasses {
  /// By the name of the entity, whose hash is cheaper than that of a whole description.
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

  /// The classes to open a store with: those asked for, and for each other entity the one that
  /// describes it.
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

/// How many properties a typed class describes, for classes that do not say it themselves.
///
/// A description is built anew each time a hand-written class gives it, and the numbers stand
/// before every access of a subclass's property: each class is counted once in a process.
struct DescribedCounts: Sendable {
  let attributes: Int
  let relationships: Int

  private static let known = Lock<[ObjectIdentifier: DescribedCounts]>([:])

  /// The numbers of a class, inherited properties included.
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
