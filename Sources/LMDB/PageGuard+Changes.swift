/// What a transaction changes, for the one that follows.
extension PageGuard {
  /// Notes an entry that the transaction is going to put or to delete, as far as its path and what
  /// a deletion touches beside it is verified.
  @inline(__always)
  mutating func noteChange(
    _ tree: GuardedTree, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?
  ) {
    changes.note(tree.handle, key, tree.hasSeveralValues ? value : nil)
  }

  /// Notes that the transaction is committed.
  mutating func noteCommit() { committed = state.transactionID + 1 }

  /// Begins with another state.
  mutating func takeOverChanges() {
    if committed == state.transactionID { markChanged() }
    changes.removeAll()
    committed = nil
  }

  /// Marks the pages on the paths of the entries that the last transaction has changed: the engine
  /// has written them, or they were verified before it changed anything. A commit of few changes
  /// would else spend most of its time on verifying what the one before it has written.
  private mutating func markChanged() {
    trustsUnmarked = true
    defer { trustsUnmarked = false }
    let changes = changes
    // What is damaged here is found where it is used.
    try? changes.forEach { (handle, key, value) throws(LMDBError) in
      let name = names[Int(handle)]
      guard let tree = try tree(of: handle, name) else { return }
      let leaf = try locate(.key(key), in: tree)
      guard let value, let node = exactNode(leaf, tree, key),
        let values = try values(of: node, in: tree)
      else { return }
      _ = try locate(.key(value), in: values)
    }
  }
}
