internal import ArborModel

/// The classes that represent the entities of a store. A value type that every context copies.
///
/// `@unchecked` because of the pointer, which refers to memory owned by the tables.
struct BoundClasses: @unchecked Sendable {
  private let tables: BindingTables
  /// The buffer of ``tables``. Looking up a binding by number then only loads pointers, whereas an
  /// array would be retained and released each time.
  private let byNumber: UnsafeBufferPointer<Unmanaged<EntityBinding>?>

  init(_ bindings: [EntityBinding]) {
    tables = BindingTables(bindings)
    byNumber = tables.byNumber
  }

  /// The bindings, by entity index.
  var bindings: [EntityBinding] { tables.bindings }

  /// The bindings for contexts that observe accesses and changes.
  var observed: BoundClasses { BoundClasses(bindings.map(\.observed)) }

  /// The binding of the entity that a class describes, or `nil` if the class is not bound.
  subscript(objectClass: ManagedObject.Type) -> EntityBinding? {
    tables.byClass[ObjectIdentifier(objectClass)]
  }

  /// The binding of an object's entity, or `nil` if the entity is unknown. Unretained; owned by the
  /// tables.
  @inline(__always)
  subscript(number: ObjectNumber) -> Unmanaged<EntityBinding>? {
    let entity = Int(truncatingIfNeeded: number.rawValue >> 48)
    return entity < byNumber.count ? byNumber[entity] : nil
  }

  /// Binds a class to the entity it describes, and to subentities that have no class of their own.
  mutating func bind(
    _ objectClass: ManagedObject.Type, to entity: EntitySchema, _ binder: ClassBinder
  ) throws(ArborError) -> EntityBinding {
    let present = bindings[entity.index].objectClass
    if present == objectClass { return bindings[entity.index] }
    let isInherited = entity.parentIndex.map { bindings[$0].objectClass == present } ?? false
    guard present == ManagedObject.self || isInherited else {
      throw ArborError(
        .invalidArgument,
        "Entity \(entity.name) is already represented by \(present) in this store and cannot also "
          + "be represented by \(objectClass). Use one of the classes."
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

/// The storage shared by copies of ``BoundClasses``.
///
/// `@unchecked` because of the pointer: its memory is written only in `init` and freed in `deinit`.
private final class BindingTables: @unchecked Sendable {
  /// The bindings, by entity index.
  let bindings: [EntityBinding]
  /// The bindings by the entities' numbers in the store. Unretained; owned by ``bindings``.
  let byNumber: UnsafeBufferPointer<Unmanaged<EntityBinding>?>
  /// The bindings of the entities that classes describe, by class.
  let byClass: [ObjectIdentifier: EntityBinding]

  init(_ bindings: [EntityBinding]) {
    self.bindings = bindings
    let count = bindings.reduce(0) { max($0, Int($1.entity.number) + 1) }
    let byNumber = UnsafeMutableBufferPointer<Unmanaged<EntityBinding>?>.allocate(capacity: count)
    byNumber.initialize(repeating: nil)
    var byClass: [ObjectIdentifier: EntityBinding] = [:]
    for binding in bindings {
      byNumber[Int(binding.entity.number)] = Unmanaged.passUnretained(binding)
      // A class represents the entity it describes, and subentities without a class.
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
