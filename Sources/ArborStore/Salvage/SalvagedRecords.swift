internal import ArborModel
internal import LMDB

/// Brings the records of a damaged store into the new one: those of the state's trees, those of its
/// other pages, and where parts of a tree are lost the latest of those that lie on other pages.
///
/// A record says whose it is and how often it was written, and its checksum covers both. Records
/// have no commit sequence of their own, but an object's version grows with each of its commits, so
/// of several records of one object the one of the greatest version is the newest.
///
/// A tree that is followed from end to end has every record of the state: what else is found is out
/// of date or deleted, and stays behind. Where a part of it is lost, it is known which numbers that
/// part may have held. What lies on a page that the state neither leads to nor lists as free was on
/// that part, and is kept. What lies on free pages, or on any where the list of free pages is
/// damaged as well, may be out of date, or of a deleted object: it is doubtful. So is whatever is
/// newer than the state before the last commit, where that is all that can be followed, and what
/// lies on a damaged page where that says that nothing lies: it may have been deleted.
final class SalvagedRecords: SalvageCopying {
  let source: SalvageSource
  private let model: SalvagedModel
  private let target: SalvageTarget
  /// By entity number: the numbers that lost parts of its tree may have held, ascending.
  private(set) var lost: [UInt16: [ClosedRange<UInt64>]] = [:]
  /// By entity number: how many records the tree says that it has.
  private(set) var expected: [UInt16: UInt64] = [:]
  /// By entity number: the greatest sequence that was met, kept or not.
  private(set) var greatest: [UInt16: UInt64] = [:]
  private var deleted = DeletedObjects()
  private var pending = PendingRecords()
  var failure: StoreError?

  init(_ source: SalvageSource, _ model: SalvagedModel, _ target: SalvageTarget) {
    (self.source, self.model, self.target) = (source, model, target)
  }

  /// Whether a later state may have been lost.
  private var mayBeOutdated: Bool { source.state == .previous || source.state == .withoutRoot }

  func copy() throws(StoreError) {
    for plan in target.entities { try copyTree(of: plan.entity) }
    if mayBeOutdated {
      // What later commits wrote lies on pages that this state does not lead to.
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

  /// Takes a record, if it is one.
  ///
  /// - Parameter tree: The entity whose tree led to the entry; nil for one that was met by itself,
  ///   which counts only among the lost numbers.
  private func take(
    _ entry: DamagedEntry, isDoubtful: Bool, among tree: EntitySchema?
  ) throws(LMDBError) {
    guard entry.key.count == 8 else { return }
    let number = ObjectNumber(rawValue: entry.key.loadUnaligned(as: UInt64.self))
    guard let entity = target.schema.entity(of: number), !entity.isAbstract,
      number.sequence > 0, tree == nil || tree === entity
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
      self.pending.append(bytes, number, isDoubtful: isDoubtful)
      if self.pending.isFull { try self.flush() }
    }
  }

  private func isRecord(
    _ bytes: UnsafeRawBufferPointer, _ number: ObjectNumber, _ entity: EntitySchema
  ) -> Bool {
    guard let base = bytes.baseAddress, bytes.count >= RecordLayout.headerSize else { return false }
    let record = RecordView(base: base, count: bytes.count)
    let layout = record.layoutNumber
    if layout == entity.layout.number { return record.verify(entity.layout, key: number) == nil }
    guard model.lostLayouts[entity.number]?.contains(layout) != true else { return false }
    let conversions = target.layouts.conversions(of: entity)
    guard conversions.indices.contains(Int(layout)), let conversion = conversions[Int(layout)]
    else { return false }
    return record.verify(conversion.old, key: number) == nil
  }

  /// Ranges in ascending order, without overlap.
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

  /// Whether one of some joined ranges holds a number. Logarithmic.
  static func contains(_ number: UInt64, _ ranges: [ClosedRange<UInt64>]) -> Bool {
    let index = ranges.partitioningIndex { $0.upperBound >= number }
    return index < ranges.count && ranges[index].contains(number)
  }

  // MARK: Writing

  func writePending() throws(StoreError) { try pending.write(to: target) }
}
