/// What the writer knows of the pages that its own commits have written.
extension PageGuard {
  mutating func noteCommit() { committed = state.transactionID + 1 }

  /// Turns to another state from that of transaction `former`: where this process has not made it,
  /// pages may be anybody's.
  mutating func takeOverPositions(from former: UInt64) {
    if state.transactionID != former, state.transactionID != committed { positions?.removeAll() }
    committed = nil
  }

  /// Whether a page without a mark needs no look: it lies where the writer has verified one, or in
  /// the tree of names, which was verified as a whole.
  func isTrusted(
    _ page: RawPage, _ number: UInt64, _ tree: GuardedTree, depth: Int, _ position: UInt64
  ) -> Bool {
    let isKnown: Bool
    if let known = positions?.contains(position) { isKnown = known } else { isKnown = false }
    guard isKnown || (tree.kind == .main && areNamesSettled) else { return false }
    return page.number == number && page.flags.contains(depth == tree.depth ? .leaf : .branch)
  }

  /// Whether the tree of names has no page left to verify.
  private var areNamesSettled: Bool {
    marks.isSettled(EngineFormat.namesHandle, in: state.transactionID)
  }
}
