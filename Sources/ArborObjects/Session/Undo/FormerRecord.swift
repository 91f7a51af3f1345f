internal import ArborModel

/// The former record of an edit, if it is long.
///
/// Only the newest record of an object in a ``RecordChain`` is held as a whole. The others are held
/// as differences, each from the next newer one, so that typing into a long text doesn't cost a copy
/// per keystroke. A record that is read becomes whole again.
final class FormerRecord {
  private let layout: RecordLayout
  private let count: Int
  private let memory: HistoryMemory
  /// The large binary values that the record refers to.
  let blobs: [(field: RecordField, reference: BlobReference)]
  /// The record's bytes, or `nil` if only the difference is held.
  private var slab: RecordSlab? { didSet { memory.bytes += size(slab) - size(oldValue) } }
  private var difference: RecordDifference? {
    didSet { memory.bytes += (difference?.count ?? 0) - (oldValue?.count ?? 0) }
  }
  /// The record from which ``difference`` was determined.
  private var newer: FormerRecord?
  /// The record whose difference was determined from this one.
  fileprivate weak var older: FormerRecord?
  fileprivate var isChained = false

  /// The minimum size of such a record, in bytes. Shorter ones are copied into shared slabs.
  static let minimumSize = 1024
  /// The approximate size of an instance, with the parts that the allocator and weak references add.
  private static let overhead = 192

  init(_ record: RecordView, of entity: EntitySchema, _ memory: HistoryMemory) {
    layout = entity.layout
    self.memory = memory
    let whole = record.copied(layout, into: memory.allocator)
    count = whole.count
    slab = memory.allocator.slab
    blobs = layout.externalFields.compactMap { field in
      record.blob(field).map { (field, $0) }
    }
    memory.bytes += count + Self.overhead
  }

  deinit {
    memory.bytes -= heldBytes
    // One at a time: a chain may be too long for nested releases.
    var next = newer
    newer = nil
    while isKnownUniquelyReferenced(&next) {
      let after = next?.newer
      next?.newer = nil
      next = after
    }
  }

  /// The number of bytes held in memory.
  var heldBytes: Int { size(slab) + (difference?.count ?? 0) + Self.overhead }

  private func size(_ slab: RecordSlab?) -> Int { slab == nil ? 0 : count }

  /// The record, valid as long as this instance and until it is held as a difference.
  var view: RecordView { RecordView(base: makeWhole().base, count: count) }

  @discardableResult
  private func makeWhole() -> RecordSlab {
    if let slab { return slab }
    var missing: [FormerRecord] = []
    var next = self
    while next.slab == nil, let newer = next.newer {
      missing.append(next)
      next = newer
    }
    guard var whole = next.slab else { stopProgram("A record of the undo history was released.") }
    for record in missing.reversed() {
      guard let newer = record.newer else { continue }
      _ = record.difference?.record(
        from: RecordView(base: whole.base, count: newer.count), layout, into: memory.allocator)
      whole = memory.allocator.slab
    }
    slab = whole
    difference = nil
    newer?.older = nil
    newer = nil
    return whole
  }

  /// Replaces the record by its difference from a newer one, if that takes less memory.
  fileprivate func shrink(to newer: FormerRecord) {
    guard
      let difference = RecordDifference(of: view, from: newer.view, layout)
    else { return }
    self.difference = difference
    self.newer = newer
    newer.older = self
    slab = nil
  }

  /// Makes the next older record independent of this one.
  fileprivate func releaseOlder() -> FormerRecord? {
    guard let older else { return nil }
    older.makeWhole()
    return older
  }
}

/// The long former records of the edits of a stack, which are reverted in reverse order.
///
/// The chain doesn't retain the records: their edits do. Records that are removed in another order
/// than they were appended stay readable, but may hold more memory than necessary.
struct RecordChain {
  private struct Newest {
    weak var record: FormerRecord?
  }

  /// The newest record of each object.
  private var newest: [ObjectNumber: Newest] = [:]
  private var maximumCount = 64

  mutating func append(_ record: FormerRecord, of number: ObjectNumber) {
    guard !record.isChained else { return }
    record.isChained = true
    newest[number]?.record?.shrink(to: record)
    newest[number] = Newest(record: record)
    guard newest.count > maximumCount else { return }
    newest = newest.filter { $0.value.record != nil }
    maximumCount = max(64, 2 * newest.count)
  }

  /// Removes the newest record of an object, before it is reverted or discarded.
  mutating func remove(_ record: FormerRecord, of number: ObjectNumber) {
    guard record.isChained else { return }
    record.isChained = false
    newest[number] = record.releaseOlder().map { Newest(record: $0) }
  }
}

/// The memory that a history's long former records take.
final class HistoryMemory {
  fileprivate(set) var bytes = 0
  /// An allocator whose slabs contain one record each, so that it can be released alone.
  fileprivate let allocator = SlabAllocator(slabSize: 1)
}
