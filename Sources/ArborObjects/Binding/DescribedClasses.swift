internal import ArborModel
internal import Synchronization

/// The typed classes that models were made from in this process.
///
/// A model is a plain value and holds no classes. A store that is opened with a model from typed
/// classes finds them here again, so that its objects are of those classes from the first fetch on,
/// whichever initialiser opened it. An entity that somebody else describes in exactly the same
/// words is the same entity.
enum DescribedClasses {
  private static let known = Mutex<[EntityDescription: DescribedClass]>([:])

  /// A metatype behind a box, since a dictionary in a `Mutex` has to be sendable.
  private struct DescribedClass: Sendable {
    let objectClass: ManagedObject.Type
  }

  /// Remembers the classes that describe a model's entities.
  static func remember(_ classes: [ManagedObject.Type], of model: ManagedObjectModel) {
    known.withLock { known in
      for objectClass in classes {
        guard let entity = model.entity(named: objectClass.entityDescription.name) else { continue }
        known[entity] = DescribedClass(objectClass: objectClass)
      }
    }
  }

  /// The classes to open a store with: those asked for, and for each other entity the one that
  /// describes it.
  static func complete(
    _ classes: [ManagedObject.Type], for model: ManagedObjectModel
  ) -> [ManagedObject.Type] {
    let named = Set(classes.map(\.entityDescription.name))
    return known.withLock { known in
      guard !known.isEmpty else { return classes }
      return classes
        + model.entities.lazy.filter { !named.contains($0.name) }
        .compactMap { known[$0]?.objectClass }
    }
  }
}
