/// The trees of a state and their verification status.
extension PageGuard {
  enum KnownTree {
    case unknown
    /// No page of the file has to be verified before the engine uses the database: it is empty, all
    /// its pages are verified, or they are about to be freed.
    case settled
    case tree(GuardedTree)
  }

  /// Returns the tree of a database in this state, or `nil` if nothing of it is left to verify.
  @inline(__always)
  mutating func tree(of database: Database) throws(LMDBError) -> GuardedTree? {
    try tree(of: database.handle, database.name)
  }

  @inline(__always)
  mutating func tree(
    of handle: UInt32, _ name: String
  ) throws(LMDBError) -> GuardedTree? {
    let index = Int(handle)
    if index < trees.count {
      switch trees[index] {
      case .tree(let tree): return tree
      case .settled: return nil
      case .unknown: break
      }
    }
    return try learn(handle, name)
  }

  private mutating func learn(_ handle: UInt32, _ name: String) throws(LMDBError) -> GuardedTree? {
    let index = Int(handle)
    if index >= trees.count {
      trees.append(contentsOf: repeatElement(.unknown, count: index + 1 - trees.count))
    }
    if index >= names.count {
      names.append(contentsOf: repeatElement("", count: index + 1 - names.count))
    }
    names[index] = handle == EngineFormat.namesHandle ? "of names" : name
    if marks.isSettled(handle, in: state.transactionID) {
      trees[index] = .settled
      return nil
    }
    let found = try find(handle, name)
    trees[index] = found.map { .tree($0) } ?? .settled
    return found
  }

  private mutating func find(_ handle: UInt32, _ name: String) throws(LMDBError) -> GuardedTree? {
    let names = try checked(GuardedTree(.main, of: EngineFormat.namesHandle, state.main))
    if handle == EngineFormat.namesHandle { return names }
    guard handle > EngineFormat.namesHandle, let names else { return nil }
    var name = name
    let record = try name.withUTF8 { (bytes) -> Result<TreeRecord?, LMDBError> in
      Result { () throws(LMDBError) in try self.record(of: bytes, in: names) }
    }.get()
    guard let record else { return nil }
    let tree = try checked(GuardedTree(.named, of: handle, record))
    if tree == nil { marks.settle(handle, in: state.transactionID) }
    return tree
  }

  /// Returns the record of a database in the name tree, or `nil` if no database has the name.
  private mutating func record(
    of name: UnsafeBufferPointer<UInt8>, in names: GuardedTree
  ) throws(LMDBError) -> TreeRecord? {
    let key = UnsafeRawBufferPointer(name)
    let leaf = try descend(names, to: .key(key), path)
    guard let node = exactNode(leaf, names, key), node.flags == .tree else { return nil }
    return TreeRecord(node.data)
  }

  /// Records that the end of a database's tree is verified.
  mutating func noteVerifiedEnd(of database: Database) {
    let index = Int(database.handle)
    guard index < trees.count, case .tree(var tree) = trees[index] else { return }
    tree.isEndVerified = true
    trees[index] = .tree(tree)
  }

  /// Returns whether nothing of a database was left to verify in this state or an earlier one.
  func isSettled(_ database: Database) -> Bool {
    marks.isSettled(database.handle, in: state.transactionID)
  }

  /// Records that nothing of a database is left to verify, in this state and in later ones.
  mutating func noteSettled(_ database: Database) {
    let index = Int(database.handle)
    if index < trees.count { trees[index] = .settled }
    marks.settle(database.handle, in: state.transactionID)
  }

  /// Discards a database, whose handle may be reused.
  mutating func forget(_ database: Database) {
    let index = Int(database.handle)
    if index < trees.count { trees[index] = .unknown }
    positions?.removeAll()
    marks.unsettle(database.handle)
  }

  /// Returns a tree whose record is plausible, as far as that can be checked without its pages, or
  /// `nil` if it is empty.
  @inline(__always)
  func checked(_ tree: GuardedTree) throws(LMDBError) -> GuardedTree? {
    let record = tree.record
    if let what = record.complaint(as: tree.kind) { throw damage(tree, nil, what) }
    let pages = max(record.branchPages, record.leafPages, record.overflowPages)
    guard pages <= state.lastPage else {
      throw damage(
        tree, nil,
        "its largest page count is \(pages), but the file's last page is \(state.lastPage)")
    }
    guard record.entries / UInt64(pageSize) <= state.lastPage else {
      throw damage(
        tree, nil,
        "its entry count is \(record.entries), more than \(state.lastPage) pages of \(pageSize) "
          + "bytes can hold")
    }
    return record.isEmpty ? nil : tree
  }
}
