internal import ArborModel

/// The classes that represent the entities in one session, with a copy of the store's binding for
/// each entity that the session has used.
struct SessionClasses {
  private let copies: BindingCopies
  /// The buffer of ``copies``, which keep it valid. Looking up a binding by number then only loads
  /// pointers, whereas an array would be retained and released each time.
  private let byNumber: UnsafeMutableBufferPointer<Unmanaged<EntityBinding>?>

  /// - Parameter isObserved: Whether the context is notified of each property access and change.
  init(_ classes: BoundClasses, isObserved: Bool = false) {
    copies = BindingCopies(of: classes, isObserved: isObserved)
    byNumber = copies.byNumber
  }

  /// Returns the same classes, observed or not.
  func observed(_ isObserved: Bool) -> SessionClasses {
    SessionClasses(copies.originals, isObserved: isObserved)
  }

  /// The store's bindings, by entity index.
  var originals: [EntityBinding] { copies.originals.bindings }

  /// The binding of the entity that a class describes, or `nil` if the class is not bound.
  /// Unretained; owned by the copies.
  subscript(objectClass: ManagedObject.Type) -> Unmanaged<EntityBinding>? {
    guard let entity = copies.originals.entityNumber(of: objectClass) else { return nil }
    return byNumber[entity] ?? copies.binding(of: entity)
  }

  /// The binding of an object's entity, or `nil` if the entity is unknown. Unretained; owned by the
  /// copies.
  @inline(__always)
  subscript(number: ObjectNumber) -> Unmanaged<EntityBinding>? {
    let entity = Int(truncatingIfNeeded: number.rawValue >> 48)
    if entity < byNumber.count, let known = byNumber[entity] { return known }
    return copies.binding(of: entity)
  }
}

/// The storage of ``SessionClasses``, which only the session's thread uses.
private final class BindingCopies {
  let originals: BoundClasses
  private let isObserved: Bool
  /// The copies by the entities' numbers in the store. Each is retained once, until `deinit`, and no
  /// copy is ever replaced.
  let byNumber: UnsafeMutableBufferPointer<Unmanaged<EntityBinding>?>

  init(of originals: BoundClasses, isObserved: Bool) {
    self.originals = originals
    self.isObserved = isObserved
    byNumber = .allocate(capacity: originals.numberCount)
    byNumber.initialize(repeating: nil)
  }

  deinit {
    for copy in byNumber { copy?.release() }
    byNumber.deallocate()
  }

  /// Returns the copy for an entity, which is made at its first use, or `nil` for an unused number.
  @inline(never)
  func binding(of entityNumber: Int) -> Unmanaged<EntityBinding>? {
    guard let original = originals.binding(of: entityNumber) else { return nil }
    if let known = byNumber[entityNumber] { return known }
    let copy = Unmanaged.passRetained(EntityBinding(copying: original, isObserved: isObserved))
    byNumber[entityNumber] = copy
    return copy
  }
}
