internal import ArborModel
internal import ArborStore

/// The difference between two consecutive states of fetched results, without the class of the
/// objects. See ``FetchedResults/Difference``.
struct ResultsStep {
  struct Single {
    let object: ManagedObject
    let index: Int
  }

  struct Pair {
    let object: ManagedObject
    let before: Int
    let after: Int
  }

  var deletions: [Single] = []
  var insertions: [Single] = []
  var moves: [Pair] = []
  var updates: [Pair] = []
  var deletedSections: [Int] = []
  var insertedSections: [Int] = []

  var isEmpty: Bool {
    deletions.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty
      && deletedSections.isEmpty && insertedSections.isEmpty
  }
}

extension ResultsStep {
  /// Computes the difference between two lists with the minimum number of moves. Linear, plus a
  /// logarithmic factor if many objects moved.
  ///
  /// - Parameter hasChanged: A closure that returns whether an object in both lists has changed.
  init(
    from old: [ManagedObject], to new: [ManagedObject],
    hasChanged: (_ before: ManagedObject, _ after: ManagedObject) -> Bool
  ) {
    var former: [ObjectNumber: Int] = [:]
    former.reserveCapacity(old.count)
    for (index, object) in old.enumerated() { former[object.number] = index }
    var survivors: [Pair] = []
    for (index, object) in new.enumerated() {
      if let before = former.removeValue(forKey: object.number) {
        survivors.append(Pair(object: object, before: before, after: index))
      } else {
        insertions.append(Single(object: object, index: index))
      }
    }
    deletions = former.values.sorted().map { Single(object: old[$0], index: $0) }
    let stays = Self.longestIncreasingSubsequence(survivors.map(\.before))
    for (rank, pair) in survivors.enumerated() {
      if !stays[rank] {
        moves.append(pair)
      } else if hasChanged(old[pair.before], pair.object) {
        updates.append(pair)
      }
    }
  }

  /// Marks a longest increasing subsequence of distinct numbers, by patience sorting. The time is
  /// linear times the logarithm of the length of the subsequence.
  static func longestIncreasingSubsequence(_ numbers: [Int]) -> [Bool] {
    // `ends[n]` is the rank of the least number that ends an increasing sequence of n + 1 numbers.
    var ends: [Int] = []
    var previous = [Int](repeating: -1, count: numbers.count)
    for (rank, number) in numbers.enumerated() {
      let length = ends.partitioningIndex { numbers[$0] >= number }
      previous[rank] = length == 0 ? -1 : ends[length - 1]
      if length == ends.count { ends.append(rank) } else { ends[length] = rank }
    }
    var marks = [Bool](repeating: false, count: numbers.count)
    var rank = ends.last ?? -1
    while rank >= 0 {
      marks[rank] = true
      rank = previous[rank]
    }
    return marks
  }
}
