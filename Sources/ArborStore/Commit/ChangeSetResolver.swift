internal import ArborFoundation
internal import ArborModel

/// Follows relationships in the state after a change set has been written: the set's records and
/// the collected members first, then the store.
///
/// The set's relationships have been sorted and its targets checked.
final class ChangeSetResolver: RecordResolver {
  let evaluation = SnapshotResolver.nextEvaluation()
  /// The state before the change set.
  let stored: SnapshotResolver
  private let preparation: CommitPreparation
  private let blobs: [BlobName: Data]

  init(_ preparation: CommitPreparation, _ set: ChangeSet) {
    self.preparation = preparation
    // The commit is written even if its task is cancelled from here on.
    stored = preparation.store.uncancelledResolver(preparation.reader)
    blobs = Dictionary(
      set.blobs.map { ($0.name, $0.data) }, uniquingKeysWith: { first, _ in first })
  }

  var workspace: CommitWorkspace { preparation.workspace }

  func admitElements(_ count: Int) -> Bool { stored.admitElements(count) }

  func admitWork(_ units: Int) -> Bool { stored.admitWork(units) }

  func charge(_ units: Int) -> Bool { stored.charge(units) }

  func interrupt(_ interruption: Interruption) { stored.interrupt(interruption) }

  var room: Int { stored.room }

  func hold(_ size: Int) -> Bool { stored.hold(size) }

  func release(_ size: Int) { stored.release(size) }

  func record(of number: ObjectNumber) -> RecordView? {
    // A deletion has no record.
    if let change = preparation.change(of: number) { return change.record }
    return stored.record(of: number)
  }

  func members(of owner: ObjectNumber, _ relationship: RelationshipSchema) -> [ObjectNumber] {
    guard !isDeleted(owner) else { return [] }
    guard let index = relationshipIndex(relationship, of: owner) else { return [] }
    if let ordered = workspace.ordered[index] {
      return ordered.outcome(of: owner)?.members ?? stored.members(of: owner, relationship)
    }
    let present = stored.members(of: owner, relationship)
    guard let maintainer = workspace.relationships[index] else { return present }
    let changes = maintainer.run.range(of: owner)
    if changes.isEmpty, !maintainer.isSwept { return present }
    var members: [ObjectNumber] = []
    members.reserveCapacity(present.count + changes.count)
    var next = changes.lowerBound
    for member in present {
      while next < changes.upperBound, maintainer.run[next].member < member {
        if !maintainer.run[next].isRemoval { members.append(maintainer.run[next].member) }
        next += 1
      }
      if next < changes.upperBound, maintainer.run[next].member == member {
        if !maintainer.run[next].isRemoval { members.append(member) }
        next += 1
      } else if !maintainer.isSwept || !workspace.swept.contains(member.rawValue) {
        members.append(member)
      }
    }
    while next < changes.upperBound {
      if !maintainer.run[next].isRemoval { members.append(maintainer.run[next].member) }
      next += 1
    }
    return stored.admitElements(members.count - present.count) ? members : []
  }

  func memberCount(of owner: ObjectNumber, _ relationship: RelationshipSchema) -> Int {
    guard !isDeleted(owner), let index = relationshipIndex(relationship, of: owner) else {
      return 0
    }
    if let ordered = workspace.ordered[index] {
      return ordered.outcome(of: owner)?.members.count
        ?? stored.memberCount(of: owner, relationship)
    }
    guard let maintainer = workspace.relationships[index] else {
      return stored.memberCount(of: owner, relationship)
    }
    if maintainer.isSwept { return members(of: owner, relationship).count }
    var count = stored.memberCount(of: owner, relationship)
    for index in maintainer.run.range(of: owner) {
      let change = maintainer.run[index]
      // The changes of a derived relationship come from records, so each is effective.
      let isMember =
        maintainer.relationship.schema.storage == .derived
        ? change.isRemoval : stored.contains(change.member, in: relationship, of: owner)
      if isMember == change.isRemoval { count += change.isRemoval ? -1 : 1 }
    }
    return count
  }

  func contains(
    _ member: ObjectNumber, in relationship: RelationshipSchema, of owner: ObjectNumber
  ) -> Bool {
    guard !isDeleted(owner), !isDeleted(member),
      let index = relationshipIndex(relationship, of: owner)
    else { return false }
    if let outcome = workspace.ordered[index]?.outcome(of: owner) {
      return outcome.members.contains(member)
    }
    if let isRemoved = workspace.relationships[index]?.run.isRemoved(owner, member) {
      return !isRemoved
    }
    return stored.contains(member, in: relationship, of: owner)
  }

  func blob(_ reference: BlobReference, of number: ObjectNumber, _ field: RecordField) -> Data? {
    blobs[BlobName(reference, of: number, field)] ?? stored.blob(reference, of: number, field)
  }

  private func isDeleted(_ number: ObjectNumber) -> Bool {
    preparation.change(of: number)?.kind == .delete
  }

  /// Returns the number of an owner's relationship in the store, or `nil` if it is to-one.
  private func relationshipIndex(_ relationship: RelationshipSchema, of owner: ObjectNumber) -> Int?
  {
    preparation.store.relationshipIndex(relationship, of: owner)
  }

  /// Throws the first failure of a read.
  func check() throws(StoreError) { try stored.checkStore() }
}

extension StoreEngine {
  /// Returns the number of an owner's to-many relationship in the store, or `nil` if the owner
  /// doesn't have it.
  func relationshipIndex(_ relationship: RelationshipSchema, of owner: ObjectNumber) -> Int? {
    guard let entity = schema.entity(of: owner), let own = entity.own(relationship) else {
      return nil
    }
    return databases.relationshipIndex(entity: entity.index, slot: own.slot)
  }
}

extension FlatRun where Item == MemberChange {
  /// Returns the indices of an owner's changes. The run must be sorted.
  func range(of owner: ObjectNumber) -> Range<Int> {
    let start = (0..<count).partitioningIndex { self[$0].high >= owner.rawValue }
    let end = (start..<count).partitioningIndex { self[$0].high > owner.rawValue }
    return start..<end
  }
}
