package import ArborModel
internal import LMDB

/// Checks that unique values are unique once a change set has been written.
///
/// Only the final state counts: two objects may swap their values. Objects with `nil` in one of the
/// constraint's properties are exempt. Truncated keys are not conclusive and are validated by the
/// records.
extension CommitPreparation {
  func checkUniqueness() throws(StoreError) {
    var violations: [UniquenessViolation] = []
    for (indexNumber, maintainer) in workspace.indexes.enumerated()
    where maintainer.index.schema.isUnique && !maintainer.isEmpty {
      try storing(checkWhole(maintainer, &violations))
      for number in maintainer.cutClaims {
        try checkCut(number, maintainer, indexNumber, &violations)
      }
    }
    if !violations.isEmpty { throw .notUnique(violations) }
  }

  /// Validates untruncated keys, group by group. Keys that are greater than all stored ones can
  /// only collide with each other.
  private func checkWhole(
    _ maintainer: IndexMaintainer, _ violations: inout [UniquenessViolation]
  ) throws(LMDBError) {
    let firstAbove = try maintainer.firstAbove(reader)
    var start = 0
    while start < maintainer.run.count {
      let end = maintainer.run.endOfKey(start)
      defer { start = end }
      guard let first = (start..<end).first(where: { maintainer.run[$0].isClaim }) else { continue }
      var holder: UInt64?
      if start < firstAbove { holder = try storedHolder(start..<end, maintainer) }
      for runIndex in first..<end where maintainer.run[runIndex].isClaim {
        let number = maintainer.run[runIndex].number
        if let holder {
          violations.append(violation(maintainer, holder, number))
        } else {
          holder = number
        }
      }
    }
  }

  /// Returns the object that has a key in the store and keeps it, or `nil` if there isn't one.
  private func storedHolder(
    _ group: Range<Int>, _ maintainer: IndexMaintainer
  ) throws(LMDBError) -> UInt64? {
    let cursor = try reader.cursor(maintainer.index.database)
    let key = maintainer.run[group.lowerBound]
    var entry = try maintainer.run.withKey(key) { (key) throws(LMDBError) in
      try cursor.seekExact(key)
    }
    while let found = entry {
      let number = cursor.number(of: found)
      let isLeaving =
        workspace.swept.contains(number)
        || group.contains {
          maintainer.run[$0].isRemoval && maintainer.run[$0].number == number
        }
      if !isLeaving { return number }
      entry = try cursor.nextDuplicate()
    }
    return nil
  }

  private func violation(
    _ maintainer: IndexMaintainer, _ existing: UInt64, _ offending: UInt64
  ) -> UniquenessViolation {
    UniquenessViolation(
      maintainer.index.schema, store.schema, existing: ObjectNumber(rawValue: existing),
      offending: ObjectNumber(rawValue: offending))
  }

  // MARK: Truncated keys

  private func checkCut(
    _ number: ObjectNumber, _ maintainer: IndexMaintainer, _ indexNumber: Int,
    _ violations: inout [UniquenessViolation]
  ) throws(StoreError) {
    guard let record = change(of: number)?.record, let index = indexPlan(of: number, indexNumber),
      let key = maintainer.wholeKey(of: record, number, index)
    else { return }
    for other in try candidates(record, index, maintainer) where other != number {
      // Of two claims in the set, the later one is the violation. An object whose key is unchanged
      // makes no claim, because it already has the value.
      if other > number, maintainer.claimsCutKey(other) { continue }
      guard let plan = plan(of: other), let otherIndex = indexPlan(of: other, indexNumber),
        let holder = try finalRecord(other, plan)
      else { continue }
      let isSame = maintainer.wholeKey(of: holder, other, otherIndex) == key
      if isSame { violations.append(violation(maintainer, other.rawValue, number.rawValue)) }
    }
  }

  private func indexPlan(of number: ObjectNumber, _ indexNumber: Int) -> WritePlan.Index? {
    plan(of: number)?.indexes.first { $0.number == indexNumber }
  }

  /// Returns all objects that have the same truncated key in the store or claim it in the set.
  private func candidates(
    _ record: RecordView, _ index: WritePlan.Index, _ maintainer: IndexMaintainer
  ) throws(StoreError) -> Set<ObjectNumber> {
    try storing { () throws(LMDBError) in
      try maintainer.withKey(of: record, index) { (key) throws(LMDBError) in
        var found = Set<ObjectNumber>()
        for runIndex in maintainer.run.indices(of: key) where !maintainer.run[runIndex].isRemoval {
          found.insert(ObjectNumber(rawValue: maintainer.run[runIndex].number))
        }
        let cursor = try reader.cursor(maintainer.index.database)
        var entry = try cursor.seekExact(key)
        while let stored = entry {
          found.insert(ObjectNumber(rawValue: cursor.number(of: stored)))
          entry = try cursor.nextDuplicate()
        }
        return found
      }
    }
  }

  private func finalRecord(
    _ number: ObjectNumber, _ plan: WritePlan
  ) throws(StoreError) -> RecordView? {
    if let change = change(of: number) { return change.record }
    return try record(number, plan)
  }
}

extension StoreEngine {
  /// Returns the unique values claimed by a change set that other objects already have in the
  /// newest commit. Nothing is written, and the set need not be valid otherwise.
  package func uniquenessViolations(of set: ChangeSet) throws(StoreError) -> [UniquenessViolation] {
    try read { (reader) throws(StoreError) in
      var preparation = try CommitPreparation(
        set, store: self, workspace: CommitWorkspace(self), reader: reader, isPreview: true)
      return try preparation.uniquenessViolations(set)
    }
  }

  /// Returns the derived values that a change set would have in the newest commit, in records of its
  /// objects and of those that depend on them. Nothing is written, and the set need not be valid
  /// otherwise.
  ///
  /// - Parameter body: Called with each record, which is valid during the call.
  package func previewDerived(
    of set: ChangeSet, _ body: (ObjectNumber, RecordView) -> Void
  ) throws(StoreError) {
    try read { (reader) throws(StoreError) in
      var preparation = try CommitPreparation(
        set, store: self, workspace: CommitWorkspace(self), reader: reader, isPreview: true)
      try preparation.previewDerived(set)
      for change in preparation.changes {
        guard let record = change.record, let entity = schema.entity(of: change.number),
          !entity.layout.derivedFields.isEmpty
        else { continue }
        body(change.number, record)
      }
    }
  }
}

extension IndexEntry {
  /// Whether the entry claims its key.
  @inline(__always)
  fileprivate var isClaim: Bool { !isRemoval && !isExempt }
}

extension EntitySchema {
  /// Returns the name of the property that an index column is derived from.
  package func name(of source: IndexSchema.Column.Source) -> String {
    switch source {
    case .attribute(let slot): attributes[slot].name
    case .toOne(let slot): relationships[slot].name
    case .part(let slot, let path):
      ([attributes[slot].name] + path.keys).joined(separator: ".")
    }
  }
}
