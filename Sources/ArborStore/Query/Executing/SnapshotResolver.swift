internal import ArborFoundation
internal import ArborLocks
internal import ArborModel
internal import LMDB

/// Follows relationships for predicates and sort keys: pending objects and links first, then the
/// store.
///
/// The protocol cannot throw, so that evaluating a predicate has no error paths. Failures are kept
/// in ``failure`` for the caller.
final class SnapshotResolver: RecordResolver {
  private static let evaluations = Atomic<UInt64>(0)

  let evaluation = SnapshotResolver.nextEvaluation()
  private let source: QuerySource
  private let overlay: (any PendingState)?
  private let stored: StoredMembers
  /// The limit that ends the query.
  let limit: WorkLimit
  /// Records that had to be converted to the newest layout. Created only if there are any.
  lazy var upgrades = UpgradedRecords()
  /// A cache of recently read records by the lowest bits of their numbers, because rows often refer
  /// to the same objects. Empty until a record is read, because most queries read none.
  private var known: [(number: ObjectNumber, record: RecordView)?] = []
  private static let knownCount = 256
  /// The index that found members most recently.
  private var lastIndex:
    (relationship: RelationshipSchema, subject: IndexableTerm.Subject, index: IndexReference?)?
  /// The first failure.
  private(set) var failure: (any Error)?

  init(_ source: QuerySource, overlay: (any PendingState)?) {
    self.source = source
    self.overlay = overlay
    limit = source.limit
    stored = StoredMembers(store: source.store, reader: source.reader)
  }

  /// Returns a number that no other evaluation has.
  static func nextEvaluation() -> UInt64 { evaluations.add(1, ordering: .relaxed).newValue }

  func admitElements(_ count: Int) -> Bool { limit.admitElements(count) }

  func admitWork(_ units: Int) -> Bool { limit.admit(units) }

  func charge(_ units: Int) -> Bool { limit.charge(units) }

  func interrupt(_ interruption: Interruption) { limit.interrupt(interruption) }

  var room: Int { limit.valueRoom }

  func hold(_ size: Int) -> Bool { limit.hold(size) }

  func release(_ size: Int) { limit.release(size) }

  func record(of number: ObjectNumber) -> RecordView? {
    guard limit.admit() else { return nil }
    if let overlay, overlay.dirty.contains(number) {
      // The values of an object that is deleted in the context can be read through references.
      return overlay.pendingRecord(of: number)
    }
    let place = Int(number.rawValue & UInt64(Self.knownCount - 1))
    if !known.isEmpty, let known = known[place], known.number == number { return known.record }
    guard let record = storedRecord(of: number) else { return nil }
    if known.isEmpty { known = Array(repeating: nil, count: Self.knownCount) }
    known[place] = (number, record)
    return record
  }

  private func storedRecord(of number: ObjectNumber) -> RecordView? {
    guard let entity = source.schema.entity(of: number), !entity.isAbstract else { return nil }
    return trying(nil) {
      guard let bytes = try source.reader.get(source.records(entity), key: number.rawValue),
        let base = bytes.baseAddress
      else { return nil }
      let record = RecordView(base: base, count: bytes.count)
      if record.verify(entity.layout, key: number) == nil { return record }
      return try upgrades.upgrade(bytes, number, entity, source.store.layouts)
    }
  }

  func members(of owner: ObjectNumber, _ relationship: RelationshipSchema) -> [ObjectNumber] {
    guard limit.admit() else { return [] }
    let members = trying([]) { try stored.members(relationship, of: owner) }
    let present = overlay?.members(of: owner, relationship, over: members) ?? members
    return limit.admitElements(present.count) ? present : []
  }

  func members(
    of owner: ObjectNumber, _ relationship: RelationshipSchema, where condition: IndexableTerm,
    upTo most: Int
  ) -> [ObjectNumber]? {
    let entity = source.schema.entities[relationship.destination]
    guard limit.admit() else { return [] }
    if let overlay,
      overlay.touches(entity) || overlay.changedMembers(of: owner, relationship) != nil
    {
      return nil
    }
    guard let index = memberIndex(entity, relationship, condition) else { return nil }
    let found = trying([]) {
      try source.members(of: owner, satisfying: condition, by: index, upTo: most)
    }
    if let found, !limit.admitElements(found.count) { return [] }
    return found
  }

  /// Returns the index over the members' owner and an attribute of theirs, or `nil` if there isn't
  /// one.
  private func memberIndex(
    _ entity: EntitySchema, _ relationship: RelationshipSchema, _ condition: IndexableTerm
  ) -> IndexReference? {
    if let last = lastIndex, last.relationship === relationship, last.subject == condition.subject {
      return last.index
    }
    let index = source.index(
      of: entity, leadingWith: source.schema.inverse(of: relationship), condition.subject)
    lastIndex = (relationship, condition.subject, index)
    return index
  }

  func memberCount(of owner: ObjectNumber, _ relationship: RelationshipSchema) -> Int {
    trying(0) {
      var count = try stored.count(relationship, of: owner)
      guard let changes = overlay?.changedMembers(of: owner, relationship) else { return count }
      for member in changes.removed
      where try stored.contains(member, in: relationship, of: owner) {
        count -= 1
      }
      for member in changes.added
      where try !stored.contains(member, in: relationship, of: owner) {
        count += 1
      }
      return count
    }
  }

  func contains(
    _ member: ObjectNumber, in relationship: RelationshipSchema, of owner: ObjectNumber
  ) -> Bool {
    if let answer = overlay?.isMember(member, of: owner, relationship) { return answer }
    return trying(false) { try stored.contains(member, in: relationship, of: owner) }
  }

  func blob(_ reference: BlobReference, of number: ObjectNumber, _ field: RecordField) -> Data? {
    if let data = overlay?.blob(BlobKey(reference, of: number, field)) { return data }
    return trying(nil) { try source.blob(reference, of: number, field) }
  }

  @inline(__always)
  private func trying<R>(_ substitute: R, _ body: () throws -> R) -> R {
    do {
      return try body()
    } catch {
      failure = failure ?? error
      return substitute
    }
  }

  /// Throws the first failure since the query began, or the interruption that ends it.
  @inline(__always)
  func check() throws {
    if let failure { throw failure }
    if let interruption = limit.interruption { throw interruption }
  }

  /// Throws like ``check()``.
  func checkStore() throws(StoreError) {
    if failure != nil || limit.interruption != nil { try translatingErrors { try check() } }
  }
}

/// Records in older layouts, converted to the newest one for the duration of a query.
final class UpgradedRecords {
  private let allocator = SlabAllocator(keepsSlabs: true)

  @inline(never)
  func upgrade(
    _ bytes: UnsafeRawBufferPointer, _ number: ObjectNumber, _ entity: EntitySchema,
    _ layouts: StoreLayouts
  ) throws -> RecordView {
    guard let base = bytes.baseAddress else {
      throw StoreError.corrupted(
        entity: entity.name, object: number, what: "The object's record is empty.")
    }
    let record = RecordView(base: base, count: bytes.count)
    return try layouts.verified(record, of: number, entity: entity, allocator: allocator)
  }

  /// Converts a record that is known to be undamaged to the newest layout.
  func convert(_ record: RecordView, _ conversion: RecordConversion) -> RecordView {
    conversion.convert(record, allocator: allocator)
  }

  /// Releases the most recently converted record.
  func takeBack(_ record: RecordView) { allocator.takeBack(record.base, record.count) }
}
