internal import ArborModel

/// How the entities of a store are represented: a value, of which every context has a copy.
///
/// It is `@unchecked` because of the pointer, which its tables keep.
struct BoundClasses: @unchecked Sendable {
  private let tables: BindingTables
  /// That of ``tables``, so that finding a binding by number loads pointers only: an array would be
  /// retained and released each time.
  private let byNumber: UnsafeBufferPointer<Unmanaged<EntityBinding>?>

  init(_ bindings: [EntityBinding]) {
    tables = BindingTables(bindings)
    byNumber = tables.byNumber
  }

  /// By entity index.
  var bindings: [EntityBinding] { tables.bindings }

  /// The same, for contexts that are told what is read and written.
  var observed: BoundClasses { BoundClasses(bindings.map(\.observed)) }

  /// The binding of the entity that a class describes; nil where the class is not bound.
  subscript(objectClass: ManagedObject.Type) -> EntityBinding? {
    tables.byClass[ObjectIdentifier(objectClass)]
  }

  /// The binding of an object's entity; nil for a number of none. The bindings keep it.
  @inline(__always)
  subscript(number: ObjectNumber) -> Unmanaged<EntityBinding>? {
    let entity = Int(truncatingIfNeeded: number.rawValue >> 48)
    return entity < byNumber.count ? byNumber[entity] : nil
  }

  /// Binds a class to the entity that it describes, and to the subentities that have no class of
  /// their own.
  mutating func bind(
    _ objectClass: ManagedObject.Type, to entity: EntitySchema, _ binder: ClassBinder
  ) throws(ArborError) -> EntityBinding {
    let present = bindings[entity.index].objectClass
    if present == objectClass { return bindings[entity.index] }
    let isInherited = entity.parentIndex.map { bindings[$0].objectClass == present } ?? false
    guard present == ManagedObject.self || isInherited else {
      throw ArborError(
        .invalidArgument,
        "Entity \(entity.name) is already represented by \(present) in this store and cannot be "
          + "represented by \(objectClass), too. Use one of the classes."
      ).with(entity: entity.name)
    }
    var updated = bindings
    for index in entity.concreteFamily + [entity.index]
    where updated[index].objectClass == present {
      updated[index] = try binder.bind(objectClass, to: binder.schema.entities[index])
    }
    self = BoundClasses(updated)
    return bindings[entity.index]
  }
}

/// What copies of ``BoundClasses`` share.
///
/// It is `@unchecked` because of the pointer: what it leads to is written in `init` only, and freed
/// when nobody holds the tables any more.
private final class BindingTables: @unchecked Sendable {
  /// By entity index.
  let bindings: [EntityBinding]
  /// By the entities' numbers in the store; ``bindings`` keeps them.
  let byNumber: UnsafeBufferPointer<Unmanaged<EntityBinding>?>
  /// Those of the entities that classes describe.
  let byClass: [ObjectIdentifier: EntityBinding]

  init(_ bindings: [EntityBinding]) {
    self.bindings = bindings
    let count = bindings.reduce(0) { max($0, Int($1.entity.number) + 1) }
    let byNumber = UnsafeMutableBufferPointer<Unmanaged<EntityBinding>?>.allocate(capacity: count)
    byNumber.initialize(repeating: nil)
    var byClass: [ObjectIdentifier: EntityBinding] = [:]
    for binding in bindings {
      byNumber[Int(binding.entity.number)] = Unmanaged.passUnretained(binding)
      // A class represents the entity that it describes, and those below without a class.
      let isInherited =
        binding.entity.parentIndex.map { bindings[$0].objectClass == binding.objectClass } ?? false
      if binding.objectClass != ManagedObject.self, !isInherited {
        byClass[ObjectIdentifier(binding.objectClass)] = binding
      }
    }
    self.byNumber = UnsafeBufferPointer(byNumber)
    self.byClass = byClass
  }

  deinit { byNumber.deallocate() }
}
