internal import ArborModel
internal import ArborStore

/// An update of an ordered collection, which removes objects, inserts others, and computes the
/// difference.
///
/// First every object is looked up in the original order. Then deleted and moved objects are
/// removed. Finally moved and new ones are inserted in ascending order, so that each is inserted at
/// its final index.
struct ResultsPlacement {
  private(set) var arrangement: Arrangement
  private(set) var runs: [ResultsKeeper.Run]
  private let shape: ResultsShape
  private let changes: ResultsRecord.Changes
  private var updated: [Int] = []
  private var deleted: [Int] = []
  private var arriving: [Arrival] = []

  private struct Arrival {
    let object: ManagedObject
    let key: RecordOrder.Key
    /// The original index, or `nil` for a new object.
    let before: Int?
  }

  init(
    _ arrangement: Arrangement, runs: [ResultsKeeper.Run], shape: ResultsShape,
    changes: ResultsRecord.Changes
  ) {
    self.arrangement = arrangement
    self.runs = runs
    self.shape = shape
    self.changes = changes
  }

  // MARK: The original order

  /// Returns the index of a candidate, or `nil` if it isn't a result.
  func index(of candidate: ResultsCandidate) -> Int? {
    guard let former = candidate.former else { return nil }
    guard !shape.needsFetch, let order = shape.order else {
      // The order doesn't depend on the record alone, so binary search is not possible.
      return (0..<arrangement.count).first { arrangement[$0].number == candidate.number }
    }
    let key = order.key(candidate.number, former, of: candidate.entity)
    let index = arrangement.countOfPrefix { object in
      order.isBefore((self.key(of: object, order), object.number), (key, candidate.number))
    }
    guard index < arrangement.count, arrangement[index].number == candidate.number else {
      return nil
    }
    return index
  }

  private func key(of object: ManagedObject, _ order: RecordOrder) -> RecordOrder.Key {
    let record = changes.before[object.number]?.record ?? object.currentRecord
    return order.key(object.number, record, of: object.binding.entity)
  }

  // MARK: Recording changes

  /// Records that the result at an index changed but remains in place.
  mutating func update(_ index: Int) { updated.append(index) }

  /// Records that the object at an index is no longer a result.
  mutating func delete(_ index: Int) { deleted.append(index) }

  /// Records that an object is a result, at a position determined by its record.
  mutating func put(
    _ object: ManagedObject, _ record: RecordView, _ entity: EntitySchema, from index: Int?
  ) {
    guard let order = shape.order else { return }
    let key = order.key(object.number, record, of: entity)
    if let index, stays(at: index, key, object.number, order) {
      update(index)
    } else {
      arriving.append(Arrival(object: object, key: key, before: index))
    }
  }

  /// Returns whether an object keeps its index with a new key: its neighbors are unchanged, and it
  /// is still between them in the same section.
  private func stays(
    at index: Int, _ key: RecordOrder.Key, _ number: ObjectNumber, _ order: RecordOrder
  ) -> Bool {
    let former = self.key(of: arrangement[index], order)
    if former == key { return true }
    if shape.sectionPath != nil, order.section(of: former) != order.section(of: key) {
      return false
    }
    func isUnchanged(_ index: Int, _ isBetween: (RecordOrder.Key, ObjectNumber) -> Bool) -> Bool {
      guard (0..<arrangement.count).contains(index) else { return true }
      let neighbour = arrangement[index]
      return changes.before[neighbour.number] == nil
        && isBetween(self.key(of: neighbour, order), neighbour.number)
    }
    return isUnchanged(index - 1) { order.isBefore(($0, $1), (key, number)) }
      && isUnchanged(index + 1) { order.isBefore((key, number), ($0, $1)) }
  }

  // MARK: The new order

  mutating func finish() -> ResultsStep {
    var step = ResultsStep()
    let leaving = (deleted + arriving.compactMap(\.before)).sorted()
    updated.sort()
    step.deletions = deleted.sorted().map { .init(object: arrangement[$0], index: $0) }
    let staying = updated.map { arrangement[$0] }
    for index in leaving.reversed() {
      arrangement.remove(at: index)
      leaveRun(at: index)
    }
    runs.removeAll { $0.count == 0 }
    let arrived = arrive(&step)
    step.moves.sort { $0.after < $1.after }
    for (before, object) in zip(updated, staying) {
      step.updates.append(
        .init(
          object: object, before: before,
          after: Self.index(of: before, without: leaving, with: arrived)))
    }
    return step
  }

  /// Inserts new and moved objects. Returns their indices in ascending order.
  private mutating func arrive(_ step: inout ResultsStep) -> [Int] {
    guard let order = shape.order else { return [] }
    arriving.sort { order.isBefore(($0.key, $0.object.number), ($1.key, $1.object.number)) }
    var indices: [Int] = []
    for arrival in arriving {
      let number = arrival.object.number
      let index = arrangement.countOfPrefix { object in
        let key = order.key(object.number, object.currentRecord, of: object.binding.entity)
        return order.isBefore((key, object.number), (arrival.key, number))
      }
      arrangement.insert(arrival.object, at: index)
      joinRun(at: index, order.section(of: arrival.key))
      indices.append(index)
      if let before = arrival.before {
        step.moves.append(.init(object: arrival.object, before: before, after: index))
      } else {
        step.insertions.append(.init(object: arrival.object, index: index))
      }
    }
    return indices
  }

  /// Returns the new index of the object that was at index `before`, after removals and insertions.
  static func index(of before: Int, without leaving: [Int], with arrived: [Int]) -> Int {
    let rest = before - leaving.partitioningIndex { $0 >= before }
    // The n-th inserted object is preceded by `arrived[n] - n` remaining objects, so it precedes
    // this one if that number is at most `rest`.
    return rest + arrived.indices.partitioningIndex { arrived[$0] - $0 > rest }
  }

  // MARK: Sections

  private mutating func leaveRun(at index: Int) {
    var rest = index
    for runIndex in runs.indices {
      if rest < runs[runIndex].count {
        runs[runIndex].count -= 1
        return
      }
      rest -= runs[runIndex].count
    }
  }

  private mutating func joinRun(at index: Int, _ identity: DistinctValue?) {
    guard shape.sectionPath != nil, let identity else { return }
    var start = 0
    for runIndex in runs.indices {
      let end = start + runs[runIndex].count
      if index <= end, runs[runIndex].identity == identity {
        runs[runIndex].count += 1
        return
      }
      if index == start { return runs.insert(.init(identity: identity, count: 1), at: runIndex) }
      if index < end {
        // Values that compare as equal without being identical may be interleaved.
        let tail = ResultsKeeper.Run(identity: runs[runIndex].identity, count: end - index)
        runs[runIndex].count = index - start
        return runs.insert(
          contentsOf: [.init(identity: identity, count: 1), tail], at: runIndex + 1)
      }
      start = end
    }
    runs.append(.init(identity: identity, count: 1))
  }
}

extension ResultsStep {
  /// Computes which sections were removed and which are new.
  mutating func compareSections(from former: [ResultsKeeper.Run], to runs: [ResultsKeeper.Run]) {
    guard !former.isEmpty || !runs.isEmpty else { return }
    let difference = runs.map(\.identity).difference(from: former.map(\.identity))
    for change in difference {
      switch change {
      case .insert(let index, _, _): insertedSections.append(index)
      case .remove(let index, _, _): deletedSections.append(index)
      }
    }
    insertedSections.sort()
    deletedSections.sort()
  }
}
