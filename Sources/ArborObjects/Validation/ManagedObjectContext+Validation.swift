public import ArborModel
internal import ArborStore
internal import ArborWork
internal import Foundation

extension ManagedObjectContext {
  /// Checks all changes as a commit would, and writes nothing.
  ///
  /// `willCommit` runs first, since it may fill in what is missing; what it changed is taken back
  /// afterwards. Whether unique values are free is looked up in the newest commit; concurrent
  /// commits after it are found by the commit itself only. Linear in the number of changes.
  ///
  /// ```swift
  /// do { try context.validate() } catch { form.show(error.violations) }
  /// ```
  ///
  /// - Throws: ``ArborError`` `validation` with every violation, those of uniqueness constraints
  ///   among them; `notUnique` where nothing else is wrong; or what keeps a commit from beginning.
  public func validate() throws(ArborError) {
    try beginOperation()
    try throwFailure()
    guard !work.isInSavepoint else {
      throw ArborError(
        .notAllowed, "validate() was called during a commit or a seed, which validates by itself.")
    }
    try takeInKnownCommits()
    guard hasChanges else { return }
    let savepoint = work.beginSavepoint()
    defer { work.restore(savepoint) }
    try CommitHooks(self).announce()
    try throwFailure()
    _ = try AttributeDerivation(self).derive()
    try checkRules(isAlone: true)
  }

  /// Checks all changes by the model's rules, the objects' hooks and the uniqueness constraints.
  ///
  /// - Parameter isAlone: Whether no commit follows, which would find out what unique values are
  ///   taken; otherwise they are looked up only where something else is wrong, to be told together.
  func checkRules(isAlone: Bool = false) throws(ArborError) {
    var found: ArborError?
    do throws(ArborError) {
      var validation = CommitValidation(context: self)
      try validation.check()
    } catch {
      guard error.code == .validation else { throw error }
      found = error
    }
    guard found != nil || isAlone else { return }
    let taken = try takenValues()
    let duplicates =
      taken.isEmpty ? nil : ArborError(.notUnique(taken), in: store.file)
    switch (found, duplicates) {
    case (nil, nil): return
    case (let error?, nil), (nil, let error?): throw naming(error)
    case (let broken?, let duplicates?):
      throw naming(CommitValidation.summary(of: broken.violations + duplicates.violations))
    }
  }

  /// The unique values of pending changes that others have already and no policy merges.
  func takenValues() throws(ArborError) -> [UniquenessViolation] {
    var changes = ChangeSet()
    changes.records = work.recordChanges()
    guard !changes.records.isEmpty else { return [] }
    let violations: [UniquenessViolation]
    do throws(StoreError) { violations = try store.file.uniquenessViolations(of: changes) } catch {
      throw ArborError(error, in: store.file)
    }
    if case .error = mergePolicy { return violations }
    let merger = UniqueMerger(self)
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
    guard let object = registeredObject(for: id), object.base != nil,
      let index = object.binding.entity.indexes.first(where: { $0.isUnique && $0.isPlain })
    else { return nil }
    let names = index.columns.map { object.binding.entity.name(of: $0.source) }
    let values = names.compactMap { name in
      (try? object.value(forKey: name)).map { "\(name) \($0)" }
    }
    return values.joined(separator: ", ")
  }
}

extension ManagedObject {
  /// What the validating hooks do where nobody overrides them.
  final func checkRules(isDeletion: Bool) throws(ArborError) {
    guard let owner, owner.validated != number else { return }
    var validation = CommitValidation(context: owner)
    try validation.check(self, isDeletion: isDeletion)
  }
}
