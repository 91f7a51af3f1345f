public import ArborModel
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
    try CommitHooks(context: self).announce()
    try throwFailure()
    _ = try AttributeDerivation(context: self).derive()
    try RuleCheck(context: self).run(isAlone: true)
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
