internal import ArborModel
internal import ArborStore

/// What leads from one state of fetched results to the next, as ``FetchedResults/Difference`` shows
/// it of one class.
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
  /// What leads from some objects to others, with as few moves as there can be. Linear, and a
  /// little more where many objects moved.
  ///
  /// - Parameter hasChanged: Whether an object that stays is another than it was.
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

  /// Marks a longest increasing subsequence (LIS) of different numbers, by patience sorting:
  /// linear times the logarithm of its length.
  static func longestIncreasingSubsequence(_ numbers: [Int]) -> [Bool] {
    // `ends[n]` is the rank of the least number that a rise of n + 1 numbers ends with so far.
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
