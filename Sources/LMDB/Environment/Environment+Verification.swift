/// Verification of every page, before a file is mapped and while it is in use.
///
/// A state of the file can be verified while others write: LMDB never overwrites a page that the
/// last commit uses, and what a reader's slot names not even later. So
///
/// - *before mapping* the verification traverses the newest state without a slot. A sound traversal
///   stands, since a page that was overwritten meanwhile can only spoil it. A finding stands where
///   the root pages are afterwards what they were; else somebody commits, who has mapped the file
///   already, and the traversal is repeated as follows;
/// - *while the file is open* it traverses the state of a snapshot, whose slot keeps every page of
///   it. Beginning a snapshot touches no page behind the root pages, so a file can be opened first
///   and verified then, before anything else is read through the map.
///
/// Neither holds anybody up: no lock is taken that a writer or another opener waits for. Nobody can
/// put another file in the place meanwhile, since the shared lock of the opening is held. Against a
/// program that writes into the file without LMDB there is no protection, during the verification
/// or later; give untrusted files to a private copy.
extension Environment {
  /// Verifies every page of the last commit by plain reads.
  ///
  /// Takes about a second for some hundred megabytes. Others read and write meanwhile; what they
  /// free is not reused until the end.
  ///
  /// - Parameters:
  ///   - expected: the databases that the file has to consist of, with their flags.
  ///   - allowed: further ones that it may have.
  ///   - isCancelled: asked at every page; true ends the verification.
  /// - Throws: ``LMDBError/damaged(_:)`` with the first finding; ``LMDBError/closed`` where it was
  ///   cancelled.
  package func verifyPages(
    expecting expected: [String: DatabaseFlags]? = nil, allowing allowed: Set<String> = [],
    isCancelled: @escaping () -> Bool = { false }
  ) throws(LMDBError) {
    while true {
      let snapshot = try beginRead()
      guard let meta = try MetaPages.read(file.descriptor)?.page(of: snapshot.id) else {
        // There were two concurrent commits since the snapshot began.
        if isCancelled() { throw .closed }
        continue
      }
      var verifier = try PageVerifier(
        descriptor: file.descriptor, meta: meta, isCancelled: isCancelled)
      let report = try verifier.verify()
      marks.areComplete = true
      // The snapshot has to live until here.
      if snapshot.id == meta.transactionID, let expected {
        try report.check(against: expected, allowing: allowed)
      }
      return
    }
  }

  /// Verifies every page of a file that need not be fit to be opened.
  ///
  /// - Throws: what keeps the file from being a data file; ``LMDBError/damaged(_:)`` with the first
  ///   finding.
  package static func verifyPages(path: String) throws(LMDBError) {
    let file = try DataFile(path: path, create: false, allowsNetwork: true, lock: .shared)
    for _ in 0..<mostAttempts {
      if try isSound(file.descriptor) { return }
    }
  }

  /// So often a finding is looked at again because others commit.
  private static var mostAttempts: Int { 8 }

  /// Whether the newest state is sound; false where that cannot be told because others commit.
  ///
  /// - Throws: ``LMDBError/damaged(_:)`` where a finding is certain; ``LMDBError/closed`` where the
  ///   task that runs it was cancelled.
  static func isSound(_ descriptor: Int32) throws(LMDBError) -> Bool {
    guard let meta = try MetaPages.check(descriptor) else { return true }
    do throws(LMDBError) {
      var verifier = try PageVerifier(
        descriptor: descriptor, meta: meta.newest, isCancelled: { Task<Never, Never>.isCancelled })
      _ = try verifier.verify()
      return true
    } catch {
      if try MetaPages.read(descriptor) == meta { throw error }
      return false
    }
  }
}

extension PageVerifier.Report {
  /// Throws where the file consists of other databases.
  func check(
    against expected: [String: DatabaseFlags], allowing allowed: Set<String> = []
  ) throws(LMDBError) {
    for (name, flags) in databases where expected[name] != flags {
      if expected[name] == nil, allowed.contains(name) { continue }
      let what = expected[name] == nil ? "it should not exist" : "it has wrong flags"
      throw .damaged(PageFinding(page: nil, database: name, what: what))
    }
    for name in expected.keys.sorted() where databases[name] == nil {
      throw .damaged(PageFinding(page: nil, database: name, what: "it is missing"))
    }
  }
}
