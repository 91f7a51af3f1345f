internal import ArborModel
internal import LMDB

/// Copies the records of a damaged store into the new one: those of the state's trees, those of its
/// other pages and, if parts of a tree are lost, the newest ones found on any page.
///
/// A record names the commit that wrote it, and its checksum covers that, the object number and the
/// store's seed. So the record with the greatest commit is the newest. Records of other stores are
/// ignored, and so are records of commits that the store hasn't had, if its last header is certain.
///
/// A tree that is traversed completely contains all records of the state: other records are
/// outdated or deleted, and ignored. If a part of it is lost, the range of numbers that the part
/// may have contained is known. Records in this range on pages that the state neither refers to nor
/// lists as free were on the lost part, and are kept as certain.
///
/// Doubtful records are kept as such: those on free pages, or on any page if the free list is
/// damaged as well, because they may be outdated or of deleted objects; those that are newer than
/// the state, if only the state before the last commit can be traversed; those in areas that a damaged
/// page marks as unused, because they may have been deleted; and those of objects with different
/// records that seem certain, because one of them is on a page of a copy of the store.
final class SalvagedRecords: SalvageCopying {
  let source: SalvageSource
  private let model: SalvagedModel
  private let target: SalvageTarget
  /// The ascending ranges of numbers that lost parts of the tree may have contained, by entity
  /// number.
  private(set) var lost: [UInt16: [ClosedRange<UInt64>]] = [:]
  /// The number of records according to the tree, by entity number.
  private(set) var expected: [UInt16: UInt64] = [:]
  /// The greatest sequence number of all records found, kept or not, by entity number.
  private(set) var greatest: [UInt16: UInt64] = [:]
  /// The greatest commit that a kept record names.
  private(set) var greatestCommit: UInt64 = 0
  private var deleted = DeletedObjects()
  private var pending = PendingRecords()
  var failure: StoreError?

  init(_ source: SalvageSource, _ model: SalvagedModel, _ target: SalvageTarget) {
    (self.source, self.model, self.target) = (source, model, target)
  }

  /// The last commit of the store, if it is certain.
  private var lastCommit: UInt64? { source.isHeaderCertain ? source.header?.sequence : nil }

  /// Whether a later state may have been lost.
  private var mayBeOutdated: Bool { source.state == .previous || source.state == .withoutRoot }

  func copy() throws(StoreError) {
    for plan in target.entities { try copyTree(of: plan.entity) }
    if mayBeOutdated {
      // Later commits wrote to pages that this state does not refer to.
      for plan in target.entities { lost[plan.entity.number] = [Self.all(plan.entity)] }
      pending.replacesKept = true
    }
    guard !lost.isEmpty else { return }
    lost = lost.mapValues(Self.joined)
    try deleted.read(source, target.schema)
    try run { () throws(LMDBError) in
      try source.file.scan { (_, use, leaf) throws(LMDBError) in
        try leaf.forEach { (entry) throws(LMDBError) in
          let mayBeDeleted = !leaf.isSound && entry.isOutside
          try self.take(
            entry, isDoubtful: use != .current || mayBeDeleted || self.mayBeOutdated, among: nil)
        }
      }
    }
  }

  private func copyTree(of entity: EntitySchema) throws(StoreError) {
    let name = StoreFormat.recordDatabase(target.schema.storedName(of: entity))
    guard let tree = source.trees[name] else {
      lost[entity.number] = [Self.all(entity)]
      return
    }
    expected[entity.number] = tree.entryCount
    try run { () throws(LMDBError) in
      try source.file.traverse(tree) { (entry, isSound) throws(LMDBError) in
        try self.take(entry, isDoubtful: !isSound && entry.isOutside, among: entity)
      } lost: { range in
        guard let numbers = range.numbers?.clamped(to: Self.all(entity)) else { return }
        self.lost[entity.number, default: []].append(numbers)
      }
    }
  }

  private static func all(_ entity: EntitySchema) -> ClosedRange<UInt64> {
    let first = UInt64(entity.number) << 48
    return first...(first | ObjectNumber.maximumSequence)
  }

  // MARK: One entry

  /// Gathers a record if it is valid and, if doubtful, not known to be deleted.
  ///
  /// - Parameter tree: The entity whose tree contains the entry, or `nil` for an entry on an
  ///   unreachable page, which is accepted only in the lost ranges.
  private func take(
    _ entry: DamagedEntry, isDoubtful: Bool, among tree: EntitySchema?
  ) throws(LMDBError) {
    guard entry.key.count == 8 else { return }
    let number = ObjectNumber(rawValue: entry.key.loadUnaligned(as: UInt64.self))
    guard let entity = target.schema.entity(of: number), !entity.isAbstract,
      (1...ObjectNumber.maximumSequence).contains(number.sequence), tree == nil || tree === entity
    else { return }
    if tree == nil {
      guard Self.contains(number.rawValue, lost[entity.number] ?? []) else { return }
    }
    try source.file.withValue(of: entry) { (bytes) throws(LMDBError) in
      guard let bytes, self.isRecord(bytes, number, entity) else {
        if let tree {
          self.lost[tree.number, default: []].append(number.rawValue...number.rawValue)
        }
        return
      }
      self.greatest[entity.number] = max(self.greatest[entity.number] ?? 0, number.sequence)
      if isDoubtful, self.deleted.contains(number) { return }
      if let base = bytes.baseAddress {
        let commit = RecordView(base: base, count: bytes.count).commit
        self.greatestCommit = max(self.greatestCommit, commit)
      }
      self.pending.append(bytes, number, isDoubtful: isDoubtful)
      if self.pending.isFull { try self.flush() }
    }
  }

  private func isRecord(
    _ bytes: UnsafeRawBufferPointer, _ number: ObjectNumber, _ entity: EntitySchema
  ) -> Bool {
    guard let base = bytes.baseAddress, bytes.count >= RecordLayout.headerSize else { return false }
    let record = RecordView(base: base, count: bytes.count)
    if let last = lastCommit, bytes.count > RecordLayout.trailerSize, record.commit > last {
      return false
    }
    let layout = record.layoutNumber
    if layout == entity.layout.number { return record.verify(entity.layout, key: number) == nil }
    guard model.lostLayouts[entity.number]?.contains(layout) != true else { return false }
    let conversions = target.layouts.conversions(of: entity)
    guard conversions.indices.contains(Int(layout)), let conversion = conversions[Int(layout)]
    else { return false }
    return record.verify(conversion.old, key: number) == nil
  }

  /// Returns the ranges in ascending order, merged where they overlap.
  static func joined(_ ranges: [ClosedRange<UInt64>]) -> [ClosedRange<UInt64>] {
    var joined: [ClosedRange<UInt64>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = joined.last, range.lowerBound <= last.upperBound {
        joined[joined.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        joined.append(range)
      }
    }
    return joined
  }

  /// Returns whether a number is in one of several joined ranges.
  ///
  /// - Complexity: Logarithmic.
  static func contains(_ number: UInt64, _ ranges: [ClosedRange<UInt64>]) -> Bool {
    let index = ranges.partitioningIndex { $0.upperBound >= number }
    return index < ranges.count && ranges[index].contains(number)
  }

  // MARK: Writing

  func writePending() throws(StoreError) { try pending.write(to: target) }
}
