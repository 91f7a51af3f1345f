internal import ArborModel

/// The classes that represent the entities of a store. Immutable; see ``SessionClasses`` for those of
/// a context.
final class BoundClasses: Sendable {
  /// The bindings, by entity index.
  let bindings: [EntityBinding]
  /// The indexes of entities by their numbers in the store, or -1.
  private let indexByNumber: [Int]
  /// The numbers of the entities that classes describe, by class.
  private let numberByClass: [ObjectIdentifier: Int]

  init(_ bindings: [EntityBinding]) {
    self.bindings = bindings
    let count = bindings.reduce(0) { max($0, Int($1.entity.number) + 1) }
    var indexByNumber = [Int](repeating: -1, count: count)
    var numberByClass: [ObjectIdentifier: Int] = [:]
    for binding in bindings {
      let number = Int(binding.entity.number)
      indexByNumber[number] = binding.entity.index
      // A class represents the entity it describes, and subentities without a class.
      let isInherited =
        binding.entity.parentIndex.map { bindings[$0].objectClass == binding.objectClass } ?? false
      if binding.objectClass != ManagedObject.self, !isInherited {
        numberByClass[ObjectIdentifier(binding.objectClass)] = number
      }
    }
    self.indexByNumber = indexByNumber
    self.numberByClass = numberByClass
  }

  /// The number of entity numbers, of which some may be unused.
  var numberCount: Int { indexByNumber.count }

  /// Returns the number of the entity that a class describes, or `nil` if the class is not bound.
  func entityNumber(of objectClass: ManagedObject.Type) -> Int? {
    numberByClass[ObjectIdentifier(objectClass)]
  }

  /// Returns the binding of an entity by its number in the store, or `nil` for an unused number.
  func binding(of entityNumber: Int) -> EntityBinding? {
    guard entityNumber < indexByNumber.count, indexByNumber[entityNumber] >= 0 else { return nil }
    return bindings[indexByNumber[entityNumber]]
  }

  /// Returns the classes with one that is bound to the entity it describes, and to subentities that
  /// have no class of their own.
  func adding(
    _ objectClass: ManagedObject.Type, for entity: EntitySchema, _ binder: ClassBinder
  ) throws(ArborError) -> BoundClasses {
    let present = bindings[entity.index].objectClass
    if present == objectClass { return self }
    let isInherited = entity.parentIndex.map { bindings[$0].objectClass == present } ?? false
    guard present == ManagedObject.self || isInherited else {
      throw ArborError(
        .invalidArgument,
        "Entity \(entity.name) is already represented by \(present) in this store and cannot also "
          + "be represented by \(objectClass). Use one of the classes."
      ).with(entity: entity.name)
    }
    var updated = bindings
    for (index, binding) in bindings.enumerated()
    where binding.objectClass == present && binding.entity.isKind(of: entity) {
      updated[index] = try binder.bind(objectClass, to: binding.entity)
    }
    return BoundClasses(updated)
  }
}
