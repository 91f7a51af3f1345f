internal import ArborModel

/// Error handling of the throwing accessors. They throw read errors directly, instead of returning
/// a default value and deferring the error to the context's next operation.
extension ManagedObject {
  /// Returns the result of `body`.
  ///
  /// - Throws: The error of a failed read in `body`.
  @inline(__always)
  final func reading<R>(_ body: () -> R) throws(ArborError) -> R {
    guard let session else { return body() }
    guard session.failure == nil else { return try reading(session, body) }
    let result = body()
    if session.failure != nil || isMissing { throw takeFailure(of: session) }
    return result
  }

  /// Implements the slow path, which is used if an earlier failure has yet to be reported or
  /// prevents commits.
  @inline(never)
  private final func reading<R>(_ session: Session, _ body: () -> R) throws(ArborError) -> R {
    let former = session.failure
    session.failure = nil
    defer { session.failure = former }
    let result = body()
    if session.failure != nil || isMissing { throw takeFailure(of: session) }
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
  /// - Throws: The error of `body` or of a failed read in it. The changes may be based on a default
  ///   value, so commits throw the same error until a rollback.
  final func changing(_ body: () throws(ArborError) -> Void) throws(ArborError) {
    try body()
    try session?.throwDeferredFailure()
  }

  // MARK: Detached objects

  /// Checks that a property can be read, because the object holds its value or has a context to
  /// read it from.
  ///
  /// - Parameter asObject: Whether the target of a to-one relationship is needed as an object, not
  ///   just as an ID.
  /// - Throws: ``ArborError`` `notAllowed` if it cannot be read.
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
    // A deleted object has no targets.
    if case .relationship(let relationship) = property, relationship.isToMany || asObject,
      state.isOver
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

  /// Logs that a nonthrowing accessor read a property whose value is no longer available.
  @inline(never)
  final func noteLostRead(_ property: String) {
    if state == .forgotten { binding.noteLostRead(property, of: number) }
  }
}
