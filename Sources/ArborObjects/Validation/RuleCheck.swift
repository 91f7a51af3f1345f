internal import ArborModel
internal import ArborStore

/// Checks all that a commit would write by every rule, and names the objects that break one.
struct RuleCheck {
  let session: Session

  /// Checks all changes by the model's rules, the objects' hooks and the uniqueness constraints.
  ///
  /// - Parameter isAlone: Whether no commit follows, which would find out what unique values are
  ///   taken; otherwise they are looked up only where something else is wrong, to be told together.
  func run(isAlone: Bool = false) throws(ArborError) {
    var found: ArborError?
    do throws(ArborError) {
      var validation = CommitValidation(session: session)
      try validation.check()
    } catch {
      guard error.code == .validation else { throw error }
      found = error
    }
    guard found != nil || isAlone else { return }
    let taken = try takenValues()
    let duplicates = taken.isEmpty ? nil : ArborError(.notUnique(taken), in: session.file)
    switch (found, duplicates) {
    case (nil, nil): return
    case (let error?, nil), (nil, let error?): throw naming(error)
    case (let broken?, let duplicates?):
      throw naming(CommitValidation.summary(of: broken.violations + duplicates.violations))
    }
  }

  /// The unique values of pending changes that others have already and no policy merges.
  private func takenValues() throws(ArborError) -> [UniquenessViolation] {
    var changes = ChangeSet()
    changes.records = session.recordChanges()
    guard !changes.records.isEmpty else { return [] }
    let file = session.file
    let violations = try file.reporting(file.uniquenessViolations(of: changes))
    if case .error = session.mergePolicy { return violations }
    let merger = UniqueMerger(session: session)
    return violations.filter { !merger.canResolve($0) }
  }

  /// An error whose objects are named by their unique values too.
  func naming(_ error: ArborError) -> ArborError {
    var error = error
    error.identity = error.objectID.flatMap(identity)
    error.violations = error.violations.map(naming)
    return error
  }

  /// The values by which an object of the context is told apart, as `code "FR"`.
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
