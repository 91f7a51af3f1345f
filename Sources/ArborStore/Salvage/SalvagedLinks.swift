internal import ArborModel
internal import LMDB

/// Copies the links of a damaged store into the new one if both of their ends exist.
///
/// A link between to-many sides is stored in the databases of both, and a link of an ordered
/// relationship in two databases on its own side, so that links on a lost page can usually be
/// recovered elsewhere. Links have no checksum: a link that is missing on an undamaged page of the
/// other side is left out.
final class SalvagedLinks: SalvageCopying {
  let source: SalvageSource
  let target: SalvageTarget
  /// The ranges of owners whose members are partly or completely lost, by relationship number.
  private(set) var lost: [[ClosedRange<UInt64>]]
  private(set) var outcome: LinkOutcome
  private var pending: [StoredLink] = []
  var failure: StoreError?

  /// A member of an owner, with its position if the relationship is ordered.
  struct StoredLink {
    /// The index of the relationship in ``StoreDatabases/relationships``.
    let index: Int
    let owner: UInt64
    let member: UInt64
    /// The position, `nil` if it is unknown, or 0 for an unordered relationship.
    let position: UInt64?
  }

  /// The links that could not be recovered.
  struct LinkOutcome {
    var lostCount = 0
    var lost: [SalvageOutcome.LostLink] = []
  }

  init(_ source: SalvageSource, _ target: SalvageTarget) {
    (self.source, self.target) = (source, target)
    lost = target.databases.relationships.map { _ in [] }
    outcome = LinkOutcome()
  }

  private var relationships: [StoreDatabases.Relationship] { target.databases.relationships }

  /// Copies the links of all relationships that are stored as links.
  func copy() throws(StoreError) {
    for index in relationships.indices where relationships[index].schema.storage == .links {
      let schema = relationships[index].schema
      let stored = target.schema.storedName(of: schema)
      try copy(index, StoreFormat.relationshipDatabase(stored), isOrder: false)
      if schema.isOrdered { try copy(index, StoreFormat.orderDatabase(stored), isOrder: true) }
    }
    lost = lost.map(SalvagedRecords.joined)
    if lost.contains(where: { !$0.isEmpty }) { try run(copyFromPages) }
  }

  private func copy(_ index: Int, _ name: String, isOrder: Bool) throws(StoreError) {
    guard let tree = source.trees[name] else {
      if !isOrder { lost[index] = [0...UInt64.max] }
      return
    }
    let isOrdered = relationships[index].schema.isOrdered
    let size = isOrdered ? OrderedMembers.valueSize : NumberForm.wide.size
    try run { () throws(LMDBError) in
      _ = try source.file.traverse(tree) { (entry, isSound) throws(LMDBError) in
        guard isSound, entry.key.count == 8 else { return }
        let owner = entry.key.loadUnaligned(as: UInt64.self)
        let isWhole = try self.source.file.forEachValue(
          of: entry, StoreFormat.relationshipFlags, size: size
        ) { (value) throws(LMDBError) in
          try self.append(StoredLink(index, owner, value, isOrdered: isOrdered, isOrder: isOrder))
        }
        if !isWhole, !isOrder { self.lost[index].append(owner...owner) }
      } lost: { range in
        if !isOrder, let numbers = range.numbers { self.lost[index].append(numbers) }
      }
    }
  }

  func append(_ link: StoredLink) throws(LMDBError) {
    pending.append(link)
    if pending.count >= SalvageTarget.maximumChanges { try flush() }
  }

  /// Records a link that is not in the new store.
  func noteLost(_ owner: ObjectNumber, _ relationship: RelationshipSchema, _ member: ObjectNumber) {
    outcome.note((owner, relationship, member))
  }

  /// Returns whether links of an owner may be missing.
  ///
  /// - Complexity: Logarithmic, once the ranges are joined.
  func mayLack(_ index: Int, _ owner: UInt64) -> Bool {
    SalvagedRecords.contains(owner, lost[index])
  }

  func writePending() throws(StoreError) {
    try write(pending)
    pending.removeAll(keepingCapacity: true)
  }

  // MARK: Writing

  /// Writes links whose ends exist, and records the others as lost.
  func write(_ links: [StoredLink]) throws(StoreError) {
    guard !links.isEmpty else { return }
    var result = outcome
    try target.write { (transaction) throws(StoreError) in
      result = outcome
      let allocator = SlabAllocator(slabSize: 4 << 10)
      for link in links where try accepts(link, transaction.reader, allocator, &result) {
        try storing(Self.put(link, relationships[link.index], transaction))
      }
    }
    outcome = result
  }

  private func accepts(
    _ link: StoredLink, _ reader: TransactionReader, _ allocator: SlabAllocator,
    _ outcome: inout LinkOutcome
  ) throws(StoreError) -> Bool {
    let schema = relationships[link.index].schema
    let owner = ObjectNumber(rawValue: link.owner)
    let member = ObjectNumber(rawValue: link.member)
    let inverse = target.schema.inverse(of: schema)
    guard target.schema.leads(inverse, to: owner), target.schema.leads(schema, to: member) else {
      return false
    }
    let (hasOwner, hasMember) = try storing { () throws(LMDBError) in
      (try target.exists(owner, reader), try target.exists(member, reader))
    }
    guard hasOwner, hasMember else {
      // If the other side is a field, the field is authoritative.
      if hasOwner != hasMember, inverse.isToMany {
        outcome.note(hasOwner ? (owner, schema, member) : (member, inverse, owner))
      }
      return false
    }
    guard !inverse.isToMany else { return true }
    // The member's field is authoritative.
    guard let record = try target.record(member, reader, allocator),
      let field = target.field(inverse, of: member)
    else { return false }
    return record.reference(field) == owner
  }

  /// Writes a link. If it already exists, it keeps its position.
  static func put(
    _ link: StoredLink, _ relationship: StoreDatabases.Relationship,
    _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    guard let order = relationship.order else {
      try transaction.put(relationship.members, key: link.owner, number: link.member, .overwrite)
      return
    }
    let (owner, member) = (ObjectNumber(rawValue: link.owner), ObjectNumber(rawValue: link.member))
    let reader = transaction.reader
    guard try OrderedMembers.position(reader, relationship.members, owner, member) == nil else {
      return
    }
    var position = link.position ?? 0
    if link.position == nil { position = try end(of: owner, order, reader) }
    try OrderedMembers.change(relationship.members, order, link.owner, link.member, position) {
      (database, key, value) throws(LMDBError) in
      _ = try transaction.put(database, key: key, value: value, .noDuplicate)
    }
  }

  /// Returns a position after the last member.
  private static func end(
    of owner: ObjectNumber, _ order: Database, _ reader: TransactionReader
  ) throws(LMDBError) -> UInt64 {
    let cursor = try reader.cursor(order)
    guard try cursor.seekExact(owner.rawValue) != nil, let last = try cursor.lastDuplicate() else {
      return StoreFormat.positionGap
    }
    let (position, _) = OrderedMembers.pair(last.value)
    return position.addingReportingOverflow(StoreFormat.positionGap).overflow
      ? .max : position + StoreFormat.positionGap
  }
}

extension SalvagedLinks.StoredLink {
  /// Decodes a link from a value in one of its relationship's databases.
  init(
    _ index: Int, _ owner: UInt64, _ value: UnsafeRawBufferPointer, isOrdered: Bool,
    isOrder: Bool = false
  ) {
    let (first, second) =
      isOrdered ? OrderedMembers.pair(value) : (NumberForm.wide.number(value), 0)
    self.init(
      index: index, owner: owner, member: isOrder ? second : first,
      position: isOrder ? first : second)
  }
}

extension SalvagedLinks.LinkOutcome {
  mutating func note(_ link: (ObjectNumber, RelationshipSchema, ObjectNumber)) {
    lostCount += 1
    guard lost.count < SalvageOutcome.maximumListed else { return }
    lost.append(SalvageOutcome.LostLink(owner: link.0, relationship: link.1.name, target: link.2))
  }
}

extension SalvageTarget {
  /// Returns the record field of an object's to-one relationship, or `nil` if it has none.
  func field(_ relationship: RelationshipSchema, of number: ObjectNumber) -> RecordField? {
    guard let entity = schema.entity(of: number), let own = entity.own(relationship),
      case .field(let index) = own.storage
    else { return nil }
    return entity.layout.fields[index]
  }
}
