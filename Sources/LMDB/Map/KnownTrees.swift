internal import CLMDB

/// Where the trees of one state of the file lie, as far as a reader has asked for them.
///
/// Readers that begin on the same state in the same slot go on with what the last one has learnt.
struct KnownTrees {
  private enum Tree {
    case notAsked
    /// Once: a second time it is worth more than it costs.
    case asked
    case root(MappedTree)
    case unreadable
  }

  /// By database handle.
  private var trees: [Tree] = []
  /// The commit that made the state; 0 for none.
  private var state = 0

  /// Trees are known of so many databases; the engine is asked in others.
  private static let mostTrees = 1024

  /// The tree of a database, to read it without the engine; nil where that is not possible, or for
  /// one entry not worth it yet.
  @inline(__always)
  mutating func tree(
    of database: Database, in transaction: OpaquePointer?, isForScan: Bool
  ) -> MappedTree? {
    let index = Int(database.handle)
    if index < trees.count, case .root(let tree) = trees[index] { return tree }
    // Only readers say which state they see.
    return state == 0 ? nil : learn(database, transaction, isForScan)
  }

  private mutating func learn(
    _ database: Database, _ transaction: OpaquePointer?, _ isForScan: Bool
  ) -> MappedTree? {
    let index = Int(database.handle)
    guard index < Self.mostTrees, let transaction else { return nil }
    if index >= trees.count {
      trees.append(contentsOf: repeatElement(.notAsked, count: index + 1 - trees.count))
    }
    switch trees[index] {
    case .notAsked where !isForScan: trees[index] = .asked
    case .notAsked, .asked:
      guard let tree = MappedTree(database, in: transaction) else {
        trees[index] = .unreadable
        return nil
      }
      trees[index] = .root(tree)
      return tree
    case .root(let tree): return tree
    case .unreadable: break
    }
    return nil
  }

  /// Is called when a snapshot begins.
  @inline(__always)
  mutating func turn(toStateOf transaction: Int) {
    if transaction != state { forget(transaction) }
  }

  /// Forgets where trees lie: the map moves, or another state is read.
  mutating func forget(_ newState: Int = 0) {
    trees.removeAll(keepingCapacity: true)
    state = newState
  }
}
