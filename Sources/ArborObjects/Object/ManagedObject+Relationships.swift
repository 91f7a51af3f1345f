public import ArborModel

/// The accessors that typed classes build their relationships on.
extension ManagedObject {
  /// Reads the to-one relationship that the class numbers `slot`.
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
    // Fetched rows are asked for their neighbours one by one: nothing is retained on the way.
    let target = sessionReference._withUnsafeGuaranteedRef {
      $0.registry.object(number) ?? $0.makeTarget(number, of: self, slot)
    }
    guard let target else { return nil }
    if type(of: target) == T.self { return unsafeDowncast(target, to: T.self) }
    let relationship = binding.relationship(slot)
    guard session?.admits(target.number, of: self, relationship) ?? true else { return nil }
    return typed(target, relationship)
  }

  /// Reads which object the to-one relationship that the class numbers `slot` leads to, without
  /// making that object.
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
    // The context knows the entities by number: nothing is looked up by name, nothing retained.
    guard let known = sessionReference?._withUnsafeGuaranteedRef({ $0.classes[target] }) ?? nil
    else { return id(of: target) }
    return known._withUnsafeGuaranteedRef { $0.objectID(target) }
  }

  /// Points the to-one relationship that the class numbers `slot` at another object, or at none;
  /// the inverse follows at once.
  ///
  /// - Precondition: Both objects belong to one context, and the target is of the relationship's
  ///   destination.
  @_documentation(visibility: internal)
  public final func _setToOne<T: ManagedObject>(_ slot: Int, _ target: T?) {
    let relationship = binding.relationship(slot)
    guard !relationship.isToMany else { wrongKind(relationship, "_setToMany") }
    guard let session else { refuseChange() }
    if let target, let problem = problem(of: target, relationship) {
      stopProgram(problem.message)
    }
    InverseKeeper(session).set(self, relationship, to: target)
  }

  /// Reads the members of the to-many relationship that the class numbers `slot`; those that the
  /// context does not keep yet are read together.
  ///
  /// Where one object after the other is asked in the order of their IDs, as in a loop over a fetch
  /// without sort keys, the members of the next ones are read along, twice as many each time.
  @_documentation(visibility: internal)
  @inlinable
  public final func _toMany<T: ManagedObject>(_ slot: Int) -> Set<T> {
    // In the module that asks, where the set's type is known.
    Set(_orderedToMany(slot) as [T])
  }

  /// Makes objects the members of the to-many relationship that the class numbers `slot`; the
  /// inverses follow at once.
  @_documentation(visibility: internal)
  public final func _setToMany<T: ManagedObject>(_ slot: Int, _ members: Set<T>) {
    _setOrderedToMany(slot, members.sorted { $0.number < $1.number })
  }

  /// Reads the members of the to-many relationship that the class numbers `slot`, in their order
  /// where it is ordered, else in that of their IDs.
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

  /// Makes objects the members of the to-many relationship that the class numbers `slot`, in their
  /// order where it is ordered; the inverses follow at once. Repeated members count once.
  @_documentation(visibility: internal)
  public final func _setOrderedToMany<T: ManagedObject>(_ slot: Int, _ members: [T]) {
    let relationship = binding.relationship(slot)
    guard relationship.isToMany else { wrongKind(relationship, "_setToOne") }
    guard let session else { refuseChange() }
    for member in members {
      if let problem = problem(of: member, relationship) { stopProgram(problem.message) }
    }
    guard change?.kind != .deleted else { return }
    InverseKeeper(session).replace(self, relationship, with: members.lazy.map(\.number))
  }

  /// Adds a member to the to-many relationship that the class numbers `slot`, at the end of an
  /// ordered one, without reading the others.
  final func addToMany(_ slot: Int, _ member: ManagedObject) {
    let relationship = binding.relationship(slot)
    guard relationship.isToMany else { wrongKind(relationship, "_setToOne") }
    orStop { () throws(ArborError) in try add(member, to: relationship) }
  }

  /// Removes a member from the to-many relationship that the class numbers `slot`, without reading
  /// the others.
  final func removeFromMany(_ slot: Int, _ member: ManagedObject) {
    let relationship = binding.relationship(slot)
    guard relationship.isToMany else { wrongKind(relationship, "_setToOne") }
    orStop { () throws(ArborError) in try remove(member, from: relationship) }
  }

  /// The number of members of the to-many relationship that the class numbers `slot`, without
  /// reading them.
  final func countOfMany(_ slot: Int) -> Int {
    let relationship = binding.relationship(slot, of: self)
    guard relationship.isToMany else { wrongKind(relationship, "_toOne") }
    guard let session else {
      noteLostRead(relationship.name)
      return 0
    }
    return session.memberCount(of: self, relationship)
  }

  /// Whether an object is a member of the to-many relationship that the class numbers `slot`,
  /// without reading the members.
  final func manyContains(_ slot: Int, _ member: ManagedObject) -> Bool {
    let relationship = binding.relationship(slot, of: self)
    guard relationship.isToMany else { wrongKind(relationship, "_toOne") }
    guard let session else {
      noteLostRead(relationship.name)
      return false
    }
    return session.isMember(member, of: self, relationship)
  }

  /// A view of the to-many relationship that the class numbers `slot`, which reads no member.
  @_documentation(visibility: internal)
  public final func _toManyView<T: ManagedObject>(_ slot: Int) -> ToMany<T> {
    let relationship = binding.relationship(slot)
    guard relationship.isToMany else { wrongKind(relationship, "_toOne") }
    return ToMany(owner: self, slot: slot)
  }

  /// A member of the to-many relationship that the class numbers `slot`, as the class it is of.
  final func member<T: ManagedObject>(_ slot: Int, _ member: ManagedObject) -> T {
    typed(member, binding.relationship(slot))
  }

  /// An object as the class that an accessor states.
  @inline(__always)
  private final func typed<T: ManagedObject>(
    _ object: ManagedObject, _ relationship: RelationshipSchema
  ) -> T {
    // The usual case costs one comparison, a cast some thirty nanoseconds.
    if type(of: object) == T.self { return unsafeDowncast(object, to: T.self) }
    guard let typed = object as? T else {
      stopProgram(
        "\(binding.entity.name).\(relationship.name) refers to a \(type(of: object)), which is not "
          + "a \(T.self). Open the store with its classes, or correct the accessor's type.")
    }
    return typed
  }

  @inline(never)
  private final func wrongKind(_ relationship: RelationshipSchema, _ accessor: String) -> Never {
    stopProgram(
      "The relationship \(binding.entity.name).\(relationship.name) is "
        + "\(relationship.isToMany ? "to-many" : "to-one"). Use \(accessor) in its accessor.")
  }

  /// Why an object cannot be a target of a relationship, or nil.
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
    let name = "\(binding.entity.name).\(relationship.name)"
    let error =
      target.session !== session
      ? ArborError(
        .invalidArgument,
        "\(name) cannot refer to an object of another context"
          + (target.session == nil ? ": \(target.whyDetached)" : "")
          + ". Fetch it in this context by its objectID.")
      : ArborError(
        .typeMismatch,
        "\(name) accepts \(destination.name), not \(target.binding.entity.name).")
    return error.with(entity: binding.entity.name, objectID: objectID, keyPath: relationship.name)
  }
}

extension [ManagedObject] {
  /// The same objects, all of which are known to be of a class.
  ///
  /// Sound since an array of class references is one reference to a block of them, whatever the
  /// class, and the block's own type only says how its references are released. A copy by
  /// `unsafeDowncast` takes 20 ns an object, a checked cast 120 ns.
  @inline(__always)
  func typed<T: ManagedObject>() -> [T] { unsafeBitCast(self, to: [T].self) }
}
