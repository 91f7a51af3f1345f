/// Verification of every page, before a file is mapped or while it is in use.
///
/// A state of the file can be verified while other processes write: LMDB never overwrites a page
/// that the last commit uses, nor later any page that a reader's slot protects. Therefore:
///
/// - *Before mapping*, the verification traverses the newest state without a slot. If it finds no
///   damage, the result is reliable, because overwritten pages could only cause false findings. A
///   finding is reliable if the root pages are unchanged afterwards. Otherwise another process is
///   committing, which has already mapped the file, and the traversal is repeated as follows.
/// - *While the file is open*, it traverses the state of a snapshot, whose slot protects all of its
///   pages. Beginning a snapshot reads only the root pages, so a file can be opened first and then
///   verified before anything else is read through the map.
///
/// Neither blocks other processes: no lock is taken that a writer or another opener waits for. The
/// file cannot be replaced meanwhile, because the shared opening lock is held. There is no
/// protection against a program that writes to the file without LMDB, during the verification or
/// later. Use a private copy of untrusted files.
extension Environment {
  /// Verifies every page of the last commit without using the map.
  ///
  /// Takes about a second for a few hundred megabytes. Other processes may read and write
  /// meanwhile, but the pages they free are not reused until the end.
  ///
  /// - Parameters:
  ///   - expected: The databases that the file must contain, with their flags.
  ///   - allowed: Further databases that it may contain.
  ///   - isCancelled: Called for every page. The verification ends once it returns `true`.
  /// - Throws: ``LMDBError/damaged(_:)`` with the first finding; ``LMDBError/closed`` if it was
  ///   cancelled.
  package func verifyPages(
    expecting expected: [String: DatabaseFlags]? = nil, allowing allowed: Set<String> = [],
    isCancelled: @escaping () -> Bool = { false }
  ) throws(LMDBError) {
    while true {
      let snapshot = try beginRead()
      guard let meta = try MetaPages.read(file.descriptor)?.page(of: snapshot.id) else {
        // There have been two commits since the snapshot began.
        if isCancelled() { throw .closed }
        continue
      }
      var verifier = try PageVerifier(
        descriptor: file.descriptor, meta: meta, isCancelled: isCancelled)
      let report = try verifier.verify()
      marks.areComplete = true
      // The snapshot must stay alive until here.
      if snapshot.id == meta.transactionID, let expected {
        try report.check(against: expected, allowing: allowed)
      }
      return
    }
  }

  /// Verifies every page of a file, which may be unfit for opening.
  ///
  /// Returns normally if damage was found but couldn't be confirmed, because other processes
  /// committed during each of eight attempts. Therefore, a return doesn't prove that the file is
  /// sound. Use this method to explain an error, not to accept a file.
  ///
  /// - Throws: The reason why the file is not a data file; ``LMDBError/damaged(_:)`` with the first
  ///   finding.
  package static func verifyPages(path: String) throws(LMDBError) {
    let file = try DataFile(path: path, create: false, allowsNetwork: true, lock: .shared)
    for _ in 0..<maximumAttempts {
      if try isSound(file.descriptor) { return }
    }
  }

  /// The maximum number of attempts to confirm a finding while other processes commit.
  private static var maximumAttempts: Int { 8 }

  /// Returns whether the newest state is undamaged. Returns `false` if this cannot be determined
  /// because other processes commit.
  ///
  /// - Throws: ``LMDBError/damaged(_:)`` if a finding is certain; ``LMDBError/closed`` if the task
  ///   was cancelled.
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
  /// Throws if the file contains other databases, lacks an expected one, or has one with other
  /// flags.
  func check(
    against expected: [String: DatabaseFlags], allowing allowed: Set<String> = []
  ) throws(LMDBError) {
    for (name, flags) in databases where expected[name] != flags {
      if expected[name] == nil, allowed.contains(name) { continue }
      let what = expected[name] == nil ? "it should not exist" : "it has unexpected flags"
      throw .damaged(PageFinding(page: nil, database: name, what: what))
    }
    for name in expected.keys.sorted() where databases[name] == nil {
      throw .damaged(PageFinding(page: nil, database: name, what: "it is missing"))
    }
  }
}
