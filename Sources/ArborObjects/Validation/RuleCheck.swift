internal import ArborModel
internal import ArborStore

/// The check of everything that a commit would write: first with ``CommitValidation``, then, if
/// needed, for unique values that are already taken. Errors identify objects by their unique
/// values.
struct RuleCheck {
  let session: Session

  /// Checks all changes against the model's rules, the objects' hooks and the uniqueness
  /// constraints.
  ///
  /// - Parameters:
  ///   - isAlone: Whether no commit follows. A commit detects duplicate unique values itself, so
  ///     before one they are looked up only if there are other violations, in order to report them
  ///     together.
  ///   - isRepeated: Whether the commit has checked its changes before, and merging other commits
  ///     has changed them since.
  func run(isAlone: Bool = false, isRepeated: Bool = false) throws(ArborError) {
    var found: ArborError?
    do throws(ArborError) {
      var validation = CommitValidation(session: session, isRepeated: isRepeated)
      if isAlone && session.schema.hasDerivations || session.needsPreviews {
        try DerivedPreviews.show(session) { () throws(ArborError) in try validation.check() }
      } else {
        try validation.check()
      }
    } catch {
      guard error.code == .validation else { throw error }
      found = error
    }
    guard found != nil || isAlone else { return }
    let taken = try takenValues()
    let duplicates = taken.isEmpty ? nil : ArborError(.notUnique(taken), in: session.engine)
    switch (found, duplicates) {
    case (nil, nil): return
    case (let error?, nil), (nil, let error?): throw naming(error)
    case (let broken?, let duplicates?):
      throw naming(CommitValidation.summary(of: broken.violations + duplicates.violations))
    }
  }

  /// Returns the unique values of pending changes that are already taken and that the policy
  /// doesn't merge.
  private func takenValues() throws(ArborError) -> [UniquenessViolation] {
    let changes = session.changeSet(session.newOrders())
    guard !changes.records.isEmpty else { return [] }
    let engine = session.engine
    let violations = try engine.reporting(engine.uniquenessViolations(of: changes))
    let merger = UniqueMerger(session: session)
    return violations.filter { !merger.canResolve($0) }
  }

  /// Returns an error that also identifies its objects by their unique values.
  func naming(_ error: ArborError) -> ArborError {
    var error = error
    error.identity = error.objectID.flatMap(identity)
    error.violations = error.violations.map(naming)
    return error
  }

  /// Returns the unique values of an object of the context, such as `code "FR"`.
  private func identity(_ id: ObjectID) -> String? {
    guard let object = session.registeredObject(id), object.base != nil,
      let index = object.binding.entity.indexes.first(where: { $0.isUnique && $0.isPlain })
    else { return nil }
    let names = index.columns.map { object.binding.entity.name(of: $0.source) }
    let values = names.compactMap { name in
      (try? object.value(forKey: name)).map { "\(name) \($0)" }
    }
    return values.joined(separator: ", ")
  }
}
