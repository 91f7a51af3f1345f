internal import CLMDB

/// The locations of the trees of one state of the file, as far as a reader has requested them.
///
/// Readers that begin on the same state in the same slot reuse them.
struct KnownTrees {
  private enum Tree {
    case notAsked
    /// Requested once. Finding the root pays off from the second request on.
    case asked
    case root(MappedTree)
    case unreadable
  }

  /// The trees by database handle.
  private var trees: [Tree] = []
  /// The transaction number of the state, or 0 for none.
  private var state = 0

  /// The maximum number of databases with known trees. For further databases, the engine is used.
  private static let maximumTrees = 1024

  /// Returns the tree of a database for reading it without the engine. Returns `nil` if that is not
  /// possible, or not worth it yet for a single entry.
  @inline(__always)
  mutating func tree(
    of database: Database, in transaction: OpaquePointer?, isForScan: Bool
  ) -> MappedTree? {
    let index = Int(database.handle)
    if index < trees.count, case .root(let tree) = trees[index] { return tree }
    // Only readers set the state.
    return state == 0 ? nil : learn(database, transaction, isForScan)
  }

  private mutating func learn(
    _ database: Database, _ transaction: OpaquePointer?, _ isForScan: Bool
  ) -> MappedTree? {
    let index = Int(database.handle)
    guard index < Self.maximumTrees, let transaction else { return nil }
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

  /// Switches to the state of a new snapshot.
  @inline(__always)
  mutating func turn(toStateOf transaction: Int) {
    if transaction != state { forget(transaction) }
  }

  /// Discards the locations, because the map moves or another state is read.
  mutating func forget(_ newState: Int = 0) {
    trees.removeAll(keepingCapacity: true)
    state = newState
  }
}
