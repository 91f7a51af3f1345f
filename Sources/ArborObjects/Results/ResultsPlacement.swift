internal import ArborModel
internal import ArborStore

/// An update of arranged rows, which removes objects, inserts others, and computes the difference.
///
/// First every object is looked up in the original order. Then objects that leave their place are
/// removed, and those that arrive are inserted in ascending order, so that each is inserted at its
/// final index.
struct ResultsPlacement {
  private var rows: ArrangedRows
  private var updated: [Int] = []
  private var deleted: [Int] = []
  private var arriving: [Arrival] = []

  private struct Arrival {
    let row: ArrangedRows.Row
    /// The original index, or `nil` for a new object.
    let before: Int?
    /// Whether the object itself has changed, and not only its key.
    let hasChanged: Bool
  }

  init(_ rows: ArrangedRows) { self.rows = rows }

  // MARK: Recording changes

  /// Records that the result at an index changed but remains in place.
  mutating func update(_ index: Int) { updated.append(index) }

  /// Records that the object at an index is no longer a result.
  mutating func delete(_ index: Int) { deleted.append(index) }

  /// Records that an object is a result, at a position determined by its key.
  ///
  /// - Parameter index: The original index, or `nil` if it wasn't a result.
  mutating func put(
    _ object: ManagedObject, _ key: RecordOrder.Key, from index: Int?, hasChanged: Bool
  ) {
    if let index, rows.order?.compare(rows.arrangement.key(at: index), key) == .equal {
      if hasChanged { update(index) }
    } else {
      arriving.append(
        Arrival(row: .init(object: object, key: key), before: index, hasChanged: hasChanged))
    }
  }

  // MARK: The new order

  /// Applies the changes.
  consuming func finish() -> (step: ResultsStep, rows: ArrangedRows) {
    var step = ResultsStep()
    guard !deleted.isEmpty || !arriving.isEmpty else {
      step.updates = updated.sorted().map {
        .init(object: rows.arrangement[$0], before: $0, after: $0)
      }
      return (step, rows)
    }
    let former = rows.arrangement
    if let order = rows.order {
      // Objects that arrive together often keep their order, which makes sorting them cheap.
      arriving.sort { ($0.before ?? .max) < ($1.before ?? .max) }
      arriving.sort { left, right in
        switch order.compare(left.row.key, right.row.key) {
        case .less: true
        case .greater: false
        case .equal: left.row.object.number < right.row.object.number
        }
      }
    }
    let leaving = (deleted + arriving.compactMap(\.before)).sorted()
    step.deletions = deleted.sorted().map { .init(object: former[$0], index: $0) }
    let arrived = rows.change(leaving: leaving, arriving: arriving.map(\.row))
    for index in updated {
      step.updates.append(
        .init(
          object: former[index], before: index,
          after: Self.index(of: index, without: leaving, with: arrived)))
    }
    let stays = stays(former, leaving: leaving, arrived: arrived)
    for ((arrival, after), stays) in zip(zip(arriving, arrived), stays) {
      let object = arrival.row.object
      switch (arrival.before, stays) {
      case (nil, _): step.insertions.append(.init(object: object, index: after))
      case (let before?, false):
        step.moves.append(.init(object: object, before: before, after: after))
      case (let before?, true) where arrival.hasChanged:
        step.updates.append(.init(object: object, before: before, after: after))
      default: break
      }
    }
    step.updates.sort { $0.after < $1.after }
    if let order = rows.order, former.sectionCount + rows.arrangement.sectionCount > 0 {
      step.compareSections(
        from: former, leaving: leaving, to: rows.arrangement, arrived: arrived, in: order)
    }
    return (step, rows)
  }

  /// Returns, for each arriving object, whether it is between the same objects as before and in the
  /// same section. Among objects that arrive between the same two, as many as possible stay.
  private func stays(_ former: Arrangement, leaving: [Int], arrived: [Int]) -> [Bool] {
    var stays = [Bool](repeating: false, count: arriving.count)
    /// The arrivals that may stay between the same two objects.
    var together: [Int] = []
    var gap = -1
    func settle() {
      let kept = ResultsStep.longestIncreasingSubsequence(
        together.map { arriving[$0].before ?? 0 })
      for (rank, isKept) in zip(together, kept) { stays[rank] = isKept }
      together = []
    }
    for (rank, after) in arrived.enumerated() {
      guard let before = arriving[rank].before,
        before - leaving.partitioningIndex(where: { $0 >= before }) == after - rank,
        isSameSection(former, before, arriving[rank].row.key)
      else { continue }
      if after - rank != gap {
        settle()
        gap = after - rank
      }
      together.append(rank)
    }
    settle()
    return stays
  }

  private func isSameSection(
    _ former: Arrangement, _ index: Int, _ key: RecordOrder.Key
  ) -> Bool {
    guard former.sectionCount > 0, let order = rows.order else { return true }
    let (leaf, offset) = former.place(of: index)
    return order.isSection(of: leaf.keys, offset, key)
  }

  /// Returns the new index of the object that was at index `before`, after removals and insertions.
  static func index(of before: Int, without leaving: [Int], with arrived: [Int]) -> Int {
    let rest = before - leaving.partitioningIndex { $0 >= before }
    // The n-th inserted object is preceded by `arrived[n] - n` remaining objects, so it precedes
    // this one if that number is at most `rest`.
    return rest + arrived.indices.partitioningIndex { arrived[$0] - $0 > rest }
  }
}

extension ResultsStep {
  /// Computes which sections were removed and which are new, given the objects that left and
  /// arrived.
  mutating func compareSections(
    from former: Arrangement, leaving: [Int], to present: Arrangement, arrived: [Int],
    in order: RecordOrder
  ) {
    let emptied = former.sections(consistingOf: leaving, in: order)
    let created = present.sections(consistingOf: arrived, in: order)
    let (gone, new) = (Set(emptied.map(\.identity)), Set(created.map(\.identity)))
    deletedSections = emptied.filter { !new.contains($0.identity) }.map(\.section)
    insertedSections = created.filter { !gone.contains($0.identity) }.map(\.section)
  }

  /// Computes which sections were removed and which are new. Linear in the number of sections.
  mutating func compareSections(
    from former: Arrangement, to present: Arrangement, in order: RecordOrder?
  ) {
    guard let order, former.sectionCount + present.sectionCount > 0 else { return }
    func identities(_ arrangement: Arrangement) -> [DistinctValue] {
      arrangement.sectionStarts.map { order.section(of: arrangement.key(at: $0)) }
    }
    for change in identities(present).difference(from: identities(former)) {
      switch change {
      case .insert(let index, _, _): insertedSections.append(index)
      case .remove(let index, _, _): deletedSections.append(index)
      }
    }
    insertedSections.sort()
    deletedSections.sort()
  }
}

extension Arrangement {
  /// Returns the sections that consist of objects at the given ascending indices only.
  fileprivate func sections(
    consistingOf indices: [Int], in order: RecordOrder
  ) -> [(section: Int, identity: DistinctValue)] {
    var sections: [(Int, DistinctValue)] = []
    var rest = indices[...]
    while let first = rest.first {
      let section = section(at: first)
      let range = range(ofSection: section)
      let end = rest.partitioningIndex { $0 >= range.upperBound }
      if end - rest.startIndex == range.count {
        sections.append((section, order.section(of: key(at: first))))
      }
      rest = rest[end...]
    }
    return sections
  }
}
