public import ArborModel

/// The accessors that typed classes use to implement their relationships.
extension ManagedObject {
  /// Returns the object of the to-one relationship with the given slot.
  @_documentation(visibility: internal)
  public final func _toOne<T: ManagedObject>(_ slot: Int) -> T? {
    guard let field = binding.target(slot, of: self) else {
      wrongKind(binding.relationship(slot), "_toMany")
    }
    guard let number = currentRecord.reference(field) else {
      return binding.trace?.destination(T.self)
    }
    guard let sessionReference else {
      if state == .forgotten { noteLostRead(binding.relationship(slot).name) }
      return nil
    }
    // Often called for every fetched row in a loop, so nothing is retained.
    let target = sessionReference._withUnsafeGuaranteedRef {
      $0.registry.object(number) ?? $0.makeTarget(number, of: self, slot)
    }
    guard let target else { return nil }
    if type(of: target) == T.self { return unsafeDowncast(target, to: T.self) }
    let relationship = binding.relationship(slot)
    guard session?.admits(target.number, of: self, relationship) ?? true else { return nil }
    return typed(target, relationship)
  }

  /// Returns the ID of the object of the to-one relationship with the given slot, without creating
  /// that object.
  ///
  /// ```swift
  /// var companyID: ObjectID? { _toOneID(0) }
  /// ```
  @_documentation(visibility: internal)
  public final func _toOneID(_ slot: Int) -> ObjectID? {
    let field = binding.target(slot, of: self)
    guard let field else { wrongKind(binding.relationship(slot), "_toMany") }
    guard let target = currentRecord.reference(field) else {
      return binding.trace == nil ? nil : TracedClass.targetID
    }
    // The context looks up entities by number: no lookup by name, and nothing is retained.
    guard let known = sessionReference?._withUnsafeGuaranteedRef({ $0.classes[target] }) ?? nil
    else { return id(of: target) }
    return known._withUnsafeGuaranteedRef { $0.objectID(target) }
  }

  /// Sets the to-one relationship with the given slot to another object or `nil`, and updates the
  /// inverse immediately.
  ///
  /// - Precondition: Both objects belong to the same context, and the target's entity is valid for
  ///   the relationship.
  @_documentation(visibility: internal)
  public final func _setToOne<T: ManagedObject>(_ slot: Int, _ target: T?) {
    let relationship = binding.relationship(slot)
    guard !relationship.isToMany else { wrongKind(relationship, "_setToMany") }
    guard let session else { return refuseChange() }
    if let target, let problem = problem(of: target, relationship) {
      return refuse(problem)
    }
    InverseKeeper(session).set(self, relationship, to: target)
  }

  /// Returns the members of the to-many relationship with the given slot. Members that the context
  /// doesn't hold yet are loaded together.
  ///
  /// If the relationship is read for one object after another in ID order, as in a loop over a
  /// fetch without sort keys, the members of the following objects are read ahead, doubling their
  /// number each time.
  @_documentation(visibility: internal)
  @inlinable
  public final func _toMany<T: ManagedObject>(_ slot: Int) -> Set<T> {
    // Inlined into the calling module, where the set is specialized.
    Set(_orderedToMany(slot) as [T])
  }

  /// Sets the members of the to-many relationship with the given slot, and updates the inverses
  /// immediately.
  @_documentation(visibility: internal)
  public final func _setToMany<T: ManagedObject>(_ slot: Int, _ members: Set<T>) {
    _setOrderedToMany(slot, members.sorted { $0.number < $1.number })
  }

  /// Returns the members of the to-many relationship with the given slot, in their order if it is
  /// ordered, otherwise sorted by ID.
  @_documentation(visibility: internal)
  public final func _orderedToMany<T: ManagedObject>(_ slot: Int) -> [T] {
    let relationship = binding.relationship(slot, of: self)
    guard relationship.isToMany else { wrongKind(relationship, "_toOne") }
    guard let session else {
      noteLostRead(relationship.name)
      return binding.trace?.destination(T.self).map { [$0] } ?? []
    }
    let members = session.memberObjects(of: self, relationship)
    for member in members where type(of: member) != T.self {
      _ = typed(member, relationship) as T
    }
    return members.typed()
  }

  /// Sets the members of the to-many relationship with the given slot, in the given order if it is
  /// ordered, and updates the inverses immediately. Duplicate members are ignored.
  @_documentation(visibility: internal)
  public final func _setOrderedToMany<T: ManagedObject>(_ slot: Int, _ members: [T]) {
    let relationship = binding.relationship(slot)
    guard relationship.isToMany else { wrongKind(relationship, "_setToOne") }
    guard let session else { return refuseChange() }
    for member in members {
      if let problem = problem(of: member, relationship) { return refuse(problem) }
    }
    guard change?.kind != .deleted else { return }
    InverseKeeper(session).replace(self, relationship, with: members.lazy.map(\.number))
  }

  /// Adds a member to the to-many relationship with the given slot, at the end if it is ordered,
  /// without reading the others.
  final func addToMany(_ slot: Int, _ member: ManagedObject) {
    let relationship = binding.relationship(slot)
    guard relationship.isToMany else { wrongKind(relationship, "_setToOne") }
    orRefuse { () throws(ArborError) in try add(member, to: relationship) }
  }

  /// Removes a member from the to-many relationship with the given slot, without reading the
  /// others.
  final func removeFromMany(_ slot: Int, _ member: ManagedObject) {
    let relationship = binding.relationship(slot)
    guard relationship.isToMany else { wrongKind(relationship, "_setToOne") }
    orRefuse { () throws(ArborError) in try remove(member, from: relationship) }
  }

  /// Returns the number of members of the to-many relationship with the given slot, without reading
  /// them.
  final func countOfMany(_ slot: Int) -> Int {
    let relationship = binding.relationship(slot, of: self)
    guard relationship.isToMany else { wrongKind(relationship, "_toOne") }
    guard let session else {
      noteLostRead(relationship.name)
      return 0
    }
    return session.memberCount(of: self, relationship)
  }

  /// Returns whether an object is a member of the to-many relationship with the given slot, without
  /// reading the members.
  final func manyContains(_ slot: Int, _ member: ManagedObject) -> Bool {
    let relationship = binding.relationship(slot, of: self)
    guard relationship.isToMany else { wrongKind(relationship, "_toOne") }
    guard let session else {
      noteLostRead(relationship.name)
      return false
    }
    return session.isMember(member, of: self, relationship)
  }

  /// Returns a view of the to-many relationship with the given slot. Reads no members.
  @_documentation(visibility: internal)
  public final func _toManyView<T: ManagedObject>(_ slot: Int) -> ToMany<T> {
    let relationship = binding.relationship(slot)
    guard relationship.isToMany else { wrongKind(relationship, "_toOne") }
    return ToMany(owner: self, slot: slot)
  }

  /// Returns a member of the to-many relationship with the given slot as the class that the
  /// accessor declares.
  final func member<T: ManagedObject>(_ slot: Int, _ member: ManagedObject) -> T {
    typed(member, binding.relationship(slot))
  }

  /// Returns an object as the class that an accessor declares.
  @inline(__always)
  private final func typed<T: ManagedObject>(
    _ object: ManagedObject, _ relationship: RelationshipSchema
  ) -> T {
    // The common case costs one comparison; a cast costs about 30 ns.
    if type(of: object) == T.self { return unsafeDowncast(object, to: T.self) }
    guard let typed = object as? T else {
      stopProgram(
        "\(binding.entity.name).\(relationship.name) refers to a \(type(of: object)), which is not "
          + "a \(T.self). Pass the entity's class when opening the store, or correct the "
          + "accessor's type.")
    }
    return typed
  }

  @inline(never)
  private final func wrongKind(_ relationship: RelationshipSchema, _ accessor: String) -> Never {
    stopProgram(
      "The relationship \(binding.entity.name).\(relationship.name) is "
        + "\(relationship.isToMany ? "to-many" : "to-one"). Use \(accessor) in its accessor.")
  }

  /// Returns the reason why an object cannot be a target of a relationship, or `nil`.
  @inline(__always)
  final func problem(
    of target: ManagedObject, _ relationship: RelationshipSchema
  ) -> ArborError? {
    let destination = binding.schema.entities[relationship.destination]
    guard target.session === session,
      target.binding.entity === destination || target.binding.entity.isKind(of: destination)
    else { return linkProblem(target, relationship, destination) }
    return nil
  }

  @inline(never)
  private final func linkProblem(
    _ target: ManagedObject, _ relationship: RelationshipSchema, _ destination: EntitySchema
  ) -> ArborError {
    if target.isLost, target.binding.schema === binding.schema { return target.lostObject }
    let name = "\(binding.entity.name).\(relationship.name)"
    let error =
      target.session !== session
      ? ArborError(
        .invalidArgument,
        "\(name) cannot refer to an object of another context"
          + (target.session == nil ? ": \(target.whyDetached)" : "")
          + ". Fetch the object in this context by its objectID.")
      : ArborError(
        .typeMismatch,
        "\(name) accepts \(destination.name), not \(target.binding.entity.name).")
    return error.with(entity: binding.entity.name, objectID: objectID, keyPath: relationship.name)
  }
}

extension [ManagedObject] {
  /// Returns the same objects as an array of a class that all of them are known to have.
  ///
  /// This is sound because an array of class references is a single reference to a buffer,
  /// regardless of the class, and the buffer's dynamic type only determines how the elements are
  /// released. Copying with `unsafeDowncast` costs 20 ns per object, a checked cast 120 ns.
  @inline(__always)
  func typed<T: ManagedObject>() -> [T] { unsafeBitCast(self, to: [T].self) }
}
