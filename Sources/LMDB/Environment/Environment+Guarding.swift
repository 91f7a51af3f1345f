extension Environment {
  /// Prepares the verification of pages before the engine uses them, for a transaction that has
  /// just begun and sees the commit of `state`. Returns `false` if the root page of that commit no
  /// longer exists.
  @inline(__always)
  func guardPages(of slot: SlotReference, in state: Int) -> Bool {
    let here = slot.pointer
    if marks.areComplete {
      if here.pointee.pageGuard != nil { here.pointee.dropGuard() }
      return true
    }
    if let known = here.pointee.pageGuard, known.pointee.isPrepared(for: state) { return true }
    return turnGuard(of: slot, to: state)
  }

  @inline(never)
  private func turnGuard(of slot: SlotReference, to transaction: Int) -> Bool {
    guard let state = roots.page(of: transaction) else { return false }
    let here = slot.pointer
    let guarding: UnsafeMutablePointer<PageGuard>
    if let known = here.pointee.pageGuard {
      guarding = known
    } else {
      // Memory safety: the slot frees it when none of its transactions are alive.
      guarding = .allocate(capacity: 1)
      guarding.initialize(
        to: PageGuard(
          marks: marks, descriptor: file.descriptor, state: state, isWriter: here.pointee.isWriter))
      here.pointee.pageGuard = guarding
    }
    guarding.pointee.turn(to: state, here.pointee.transaction)
    return true
  }

  /// Verifies the free lists once before this process reuses any page in them, including that they
  /// contain no page that is in use according to the trees' branch pages. The caller must hold the
  /// write transaction or a snapshot of the state.
  func verifyFreeLists(of transaction: Int) throws(LMDBError) {
    if marks.areComplete || marks.haveFreeLists { return }
    guard let state = roots.page(of: transaction) else { return }
    var verifier = try PageVerifier(descriptor: file.descriptor, meta: state)
    try verifier.verifyFreeLists()
    try verifier.verifyBranches()
    marks.haveFreeLists = true
  }
}
