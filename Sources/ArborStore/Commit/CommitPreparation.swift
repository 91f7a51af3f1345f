internal import ArborFoundation
internal import ArborModel
internal import LMDB

/// The validation of a change set before it is written: versions are compared, and the added and
/// removed keys and links are collected in the ``CommitWorkspace``. Nothing is written.
///
/// ``collectAndCheck(_:date:)`` is the entry point. Records and links are collected here; the checks of
/// their targets, of deleted objects and of unique values are in the files `+Targets`, `+Deletion`
/// and `+Uniqueness`. `+Sweeping` saves collecting the keys of many deleted objects.
struct CommitPreparation {
  typealias Change = ChangeSet.RecordChange

  let store: StoreEngine
  let workspace: CommitWorkspace
  let reader: TransactionReader
  /// Whether entries of deleted objects may be removed in a pass over all entries.
  let sweeps: Bool
  /// Whether only derived values or unique values are asked for, and nothing will be written. Objects
  /// that have changed meanwhile are accepted.
  private let isPreview: Bool
  /// The changes of the set in the order of their object numbers.
  let submitted: [Change]
  /// The changes to write in the order of their object numbers: those of the set, with derived
  /// values in their records, and those of the ``owners``.
  private(set) var changes: [Change]
  /// The ranges of ``changes`` by entity.
  private(set) var entityRuns: [Range<Int>]
  /// The changes of objects outside the set whose derived values change.
  var owners: [Change] = []
  private let links: [ChangeSet.LinkEdit]
  private let absentMetadata: [String]
  /// The binary values that are included in the set.
  private let blobs: Set<BlobName>
  /// Memory for records that ``record(_:_:)`` has converted to the newest layout.
  let upgraded = SlabAllocator(slabSize: 4 << 10)

  init(
    _ set: ChangeSet, store: StoreEngine, workspace: CommitWorkspace, reader: TransactionReader,
    sweeps: Bool = false, isPreview: Bool = false
  ) throws(StoreError) {
    self.store = store
    self.workspace = workspace
    self.reader = reader
    self.sweeps = sweeps
    self.isPreview = isPreview
    submitted = Self.sorted(set.records)
    changes = submitted
    entityRuns = Self.entityRuns(changes)
    links = set.links
    absentMetadata = set.absentMetadata
    blobs = Set(set.blobs.map(\.name))
    for index in changes.indices.dropFirst()
    where changes[index].number == changes[index - 1].number {
      throw .invalidChange(
        changes[index].number, what: "The change set contains the object twice.")
    }
    workspace.derived?.begin(set)
  }

  /// Replaces the changes to write.
  mutating func replaceChanges(_ all: [Change]) {
    changes = Self.sorted(all)
    entityRuns = Self.entityRuns(changes)
  }

  private static func sorted(_ changes: [Change]) -> [Change] {
    let isSorted = changes.indices.dropFirst().allSatisfy {
      changes[$0 - 1].number <= changes[$0].number
    }
    guard !isSorted else { return changes }
    var run = FlatRun<NumberedIndex>()
    run.reserve(changes.count)
    for index in changes.indices {
      run.append(NumberedIndex(high: changes[index].number.rawValue, low: UInt64(index)))
    }
    run.sort(ignoringLow: true)
    return (0..<run.count).map { changes[Int(run[$0].low)] }
  }

  /// The index of a change in the set, sortable by its object's number.
  private struct NumberedIndex: TwoWordSortable {
    let high: UInt64
    let low: UInt64
  }

  private static func entityRuns(_ changes: [Change]) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    var start = 0
    for index in changes.indices
    where index + 1 == changes.count
      || changes[index + 1].number.entity != changes[start].number.entity
    {
      runs.append(start..<index + 1)
      start = index + 1
    }
    return runs
  }

  /// Collects the effects of the change set in the workspace and checks all of its preconditions.
  ///
  /// - Parameter date: The date of the commit.
  /// - Throws: `metadataExists`, `conflict`, `missingTargets`, `stillLinked`, `notUnique`,
  ///   `unfitValue`, `corrupted`, `invalidChange`. In these cases, nothing has been written.
  mutating func collectAndCheck(_ set: ChangeSet, date: Date) throws(StoreError) {
    try checkMetadata()
    try collectRecords()
    try collectMembers()
    try checkTargets()
    try checkNothingLinked()
    try derive(set, date: date)
    for index in workspace.indexes where !index.isEmpty { index.sort() }
    try checkUniqueness()
  }

  private func collectMembers() throws(StoreError) {
    try collectLinks()
    for relationship in workspace.relationships {
      if let relationship, !relationship.isEmpty { relationship.sort() }
    }
    for ordered in workspace.ordered {
      if let ordered, !ordered.isEmpty { ordered.finishCollecting() }
    }
  }

  /// Computes the derived values that the set would have now, regardless of reasons to reject it.
  mutating func previewDerived(_ set: ChangeSet) throws(StoreError) {
    try collectRecords()
    try collectMembers()
    try derive(set, date: Date())
  }

  /// Returns the unique values claimed by the set that other objects already have, regardless of
  /// other reasons to reject it.
  mutating func uniquenessViolations(_ set: ChangeSet) throws(StoreError) -> [UniquenessViolation] {
    try previewDerived(set)
    for index in workspace.indexes where !index.isEmpty { index.sort() }
    do throws(StoreError) { try checkUniqueness() } catch {
      guard case .notUnique(let violations) = error else { throw error }
      return violations
    }
    return []
  }

  private func checkMetadata() throws(StoreError) {
    for key in absentMetadata {
      let stored = StoreFormat.applicationKey(key)
      let bytes = try reader.entryIfPresent(stored, in: store.databases.arbor)
      if bytes != nil { throw .metadataExists(key) }
    }
  }

  /// Returns the change of an object in this set, or `nil` if there is none.
  ///
  /// - Complexity: Logarithmic.
  func change(of number: ObjectNumber) -> Change? { index(of: number).map { changes[$0] } }

  /// Returns the index of an object's change in ``changes``, or `nil` if there is none.
  ///
  /// - Complexity: Logarithmic.
  func index(of number: ObjectNumber) -> Int? {
    let index = changes.partitioningIndex { $0.number >= number }
    guard index < changes.count, changes[index].number == number else { return nil }
    return index
  }

  /// Returns the plan for an object's entity, or `nil` if the number does not belong to a concrete
  /// entity.
  func plan(of number: ObjectNumber) -> WritePlan? {
    guard let entity = store.schema.entity(of: number) else { return nil }
    return store.plans[entity.index]
  }

  // MARK: Records

  private func collectRecords() throws(StoreError) {
    var conflicts: [CommitConflict] = []
    for run in entityRuns {
      let first = changes[run.lowerBound].number
      guard let plan = plan(of: first) else {
        throw .invalidChange(
          first,
          what: "The object doesn't belong to a concrete entity of this store.")
      }
      try collectRecords(run, plan, &conflicts)
    }
    if !conflicts.isEmpty { throw .conflict(conflicts) }
    if !isPreview, let name = blobs.subtracting(workspace.newBlobs).first {
      throw .invalidChange(
        name.number, what: "The change set contains a binary value that no changed field refers to."
      )
    }
  }

  /// Compares the changes of one entity's objects with the stored records, and collects them.
  private func collectRecords(
    _ range: Range<Int>, _ plan: WritePlan, _ conflicts: inout [CommitConflict]
  ) throws(StoreError) {
    let last = try storing(
      workspace.greatestNumbers[plan.entity.index].find(in: plan.records, reader))
    let upgrades = SlabAllocator(slabSize: 4 << 10)
    var parts = CollectedParts(plan)
    // Derived values are known only once all members have been collected.
    if !plan.entity.layout.derivedFields.isEmpty { parts.indexes = [] }
    let partsOfAll = CollectedParts(plan)
    let partsOfGone = try partsOfDeleted(changes[range], plan)
    if partsOfGone == nil { reserve(range.count, plan) }
    // The data for the next changes is prefetched while the current ones are validated.
    var found = RecordsAhead(reader, plan.records, last: last)
    for index in range {
      let change = changes[index]
      if found.isEmpty { try found.find(changes[index..<range.upperBound]) }
      let old = try found.next().map { (record) throws(StoreError) in
        try store.layouts.verified(
          record, of: change.number, entity: plan.entity, allocator: upgrades)
      }
      guard isPreview || Self.isBased(change, on: old) else {
        conflicts.append(
          CommitConflict(
            number: change.number, baseVersion: change.baseVersion,
            currentRecord: old.map { Array($0.bytes) }))
        continue
      }
      guard (change.record == nil) == (change.kind == .delete) else {
        throw .invalidChange(change.number, what: "Only a deletion can omit the record.")
      }
      let collected = change.record == nil ? partsOfGone ?? partsOfAll : parts
      collectEntries(change.number, old: old, new: change.record, parts: collected)
      workspace.derived?.noteChange(index, change, old: old, plan.entity)
      if !plan.entity.layout.externalFields.isEmpty, !isPreview {
        try collectBlobs(change.number, old: old, new: change.record, plan)
      }
      if change.kind == .delete, !isPreview, !plan.preserved.isEmpty, let old {
        try collectTombstone(change.number, old, plan)
      }
    }
  }

  private func reserve(_ count: Int, _ plan: WritePlan) {
    guard count > 16 else { return }
    for index in plan.indexes { workspace.indexes[index.number].reserve(count) }
  }

  @inline(__always)
  private static func isBased(_ change: Change, on old: RecordView?) -> Bool {
    guard change.kind != .insert else { return old == nil }
    return old?.version == change.baseVersion
  }

  /// Collects the changes of an object's entries in indexes and relationships.
  @inline(__always)
  private func collectEntries(
    _ number: ObjectNumber, old: RecordView?, new: RecordView?, parts: CollectedParts
  ) {
    for index in parts.indexes {
      workspace.indexes[index.number].collect(number, old: old, new: new, plan: index)
    }
    for reference in parts.references {
      let before = old?.reference(reference.field)
      let after = new?.reference(reference.field)
      guard before != after else { continue }
      if let relationshipIndex = reference.derivedIndex {
        guard let relationship = workspace.relationships[relationshipIndex] else { continue }
        if let before { relationship.collect(before, number, isRemoval: true) }
        if let after { relationship.collect(after, number, isRemoval: false) }
      } else if let after {
        workspace.claims.append(
          CommitWorkspace.Claim(owner: number, slot: reference.slot, target: after))
      }
    }
    for reference in parts.noted {
      guard let owner = old?.reference(reference.field), let index = reference.derivedIndex else {
        continue
      }
      workspace.relationships[index]?.sweptRun.append(
        MemberChange(owner: owner, member: number, isRemoval: true))
    }
  }

  /// Collects the removed binary values, and checks that every new reference has its binary value
  /// in the set.
  private func collectBlobs(
    _ number: ObjectNumber, old: RecordView?, new: RecordView?, _ plan: WritePlan
  ) throws(StoreError) {
    for field in plan.entity.layout.externalFields {
      let (before, after) = (old?.blob(field), new?.blob(field))
      guard before != after else { continue }
      if let before {
        let name = BlobName(before, of: number, field)
        workspace.droppedBlobs.append(
          .init(entity: plan.entity.index, name: name, reference: before))
      }
      guard let after else { continue }
      let name = BlobName(after, of: number, field)
      workspace.newBlobs.insert(name)
      guard blobs.contains(name) else {
        throw .invalidChange(
          number, what: "The record refers to a binary value that the change set doesn't contain.")
      }
    }
  }

  // MARK: Links

  private func collectLinks() throws(StoreError) {
    for edit in links {
      guard let entity = store.schema.entity(of: edit.owner),
        entity.relationships.indices.contains(edit.slot),
        entity.relationships[edit.slot].storage == .links,
        let relationshipIndex = store.databases.relationshipIndex(
          entity: entity.index, slot: edit.slot)
      else {
        throw .invalidChange(
          edit.owner, what: "Only relationships that are stored as links can be edited by links.")
      }
      // A deleted owner's members are removed as a whole.
      if change(of: edit.owner)?.kind == .delete { continue }
      if let ordered = workspace.ordered[relationshipIndex] {
        try storing(ordered.collect(edit.owner, edit.edit, reader))
        continue
      }
      switch edit.edit {
      case .add(let member):
        workspace.relationships[relationshipIndex]?.collect(edit.owner, member, isRemoval: false)
      case .remove(let member):
        workspace.relationships[relationshipIndex]?.collect(edit.owner, member, isRemoval: true)
      case .reorder:
        throw .invalidChange(
          edit.owner,
          what: "The order of an unordered relationship cannot be set.")
      }
    }
  }
}
