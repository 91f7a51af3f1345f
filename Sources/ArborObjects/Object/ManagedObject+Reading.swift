internal import ArborModel

/// What accessors that throw do beyond those that can't: they throw what keeps the store from being
/// read, instead of returning a default and leaving the error to the context's next operation.
extension ManagedObject {
  /// Returns what `body` reads.
  ///
  /// - Throws: What `body` could not read.
  @inline(__always)
  final func reading<R>(_ body: () -> R) throws(ArborError) -> R {
    guard let session else { return body() }
    guard session.failure == nil else { return try reading(session, body) }
    let result = body()
    if session.failure != nil { throw takeFailure(of: session) }
    return result
  }

  /// The same where an earlier failure is still to be reported, or keeps commits from being made.
  @inline(never)
  private final func reading<R>(_ session: Session, _ body: () -> R) throws(ArborError) -> R {
    let former = session.failure
    session.failure = nil
    defer { session.failure = former }
    let result = body()
    if session.failure != nil { throw takeFailure(of: session) }
    return result
  }

  @inline(never)
  private final func takeFailure(of session: Session) -> ArborError {
    let failure = session.failure
    session.failure = nil
    return failure.map { ArborError($0.error, in: session.engine) } ?? .missing(objectID)
  }

  /// Runs `body`, which changes the object.
  ///
  /// - Throws: What `body` throws or could not read. What it has changed may rest on a default, so
  ///   that commits throw the same until a rollback.
  final func changing(_ body: () throws(ArborError) -> Void) throws(ArborError) {
    try body()
    try session?.throwDeferredFailure()
  }

  // MARK: Without a context

  /// Checks that a property can be read: the object holds it, or has a context to read it from.
  ///
  /// - Parameter asObject: Whether the target of a to-one relationship is asked for, rather than its
  ///   ID.
  /// - Throws: ``ArborError`` `notAllowed`.
  @inline(__always)
  final func requireReadable(
    _ property: PropertySchema, asObject: Bool = false
  ) throws(ArborError) {
    guard sessionReference == nil, !holds(property, asObject: asObject) else { return }
    switch property {
    case .attribute(let attribute): throw lostRead(attribute.name)
    case .relationship(let relationship): throw lostRead(relationship.name)
    }
  }

  private final func holds(_ property: PropertySchema, asObject: Bool) -> Bool {
    // What is deleted leads nowhere.
    if case .relationship(let relationship) = property, relationship.isToMany || asObject,
      state == .gone
    {
      return true
    }
    guard let record = heldRecord else { return false }
    switch property {
    case .attribute(let attribute):
      return !attribute.field.isExternal || record.blob(attribute.field) == nil
    case .relationship(let relationship):
      guard let field = binding.entity.relationships[relationship.slot].field else { return false }
      return !asObject || record.reference(field) == nil
    }
  }

  private final func lostRead(_ property: String) -> ArborError {
    binding.lostRead(property, of: number, state)
  }

  /// Notes that a property which cannot be read any more was read by an accessor that cannot throw.
  @inline(never)
  final func noteLostRead(_ property: String) {
    if state == .forgotten { binding.noteLostRead(property, of: number) }
  }
}
