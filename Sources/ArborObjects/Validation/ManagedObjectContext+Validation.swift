public import ArborModel
internal import Foundation

extension ManagedObjectContext {
  /// Checks all changes as a commit would, and writes nothing.
  ///
  /// `willCommit` runs first, since it may fill in what is missing; what it changed is taken back
  /// afterwards. Whether unique values are free, and whether others have committed meanwhile, only
  /// the commit itself finds out. Linear in the number of changes.
  ///
  /// ```swift
  /// do { try context.validate() } catch { form.show(error.violations) }
  /// ```
  ///
  /// - Throws: ``ArborError`` `validation` with every violation, or what keeps a commit from
  ///   beginning.
  public func validate() throws(ArborError) {
    try beginOperation()
    if let failure { throw failure.error }
    guard journal == nil else {
      throw ArborError(
        .notAllowed, "validate() was called during a commit or a seed, which validates by itself.")
    }
    try takeInCommits()
    guard hasChanges else { return }
    let savepoint = beginSavepoint()
    defer { restore(savepoint) }
    try announce()
    if let failure { throw failure.error }
    try beginDeriving()
    var validation = CommitValidation(context: self)
    try validation.check()
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
