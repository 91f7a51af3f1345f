package import ArborModel

/// One object that a fetch found.
package struct FetchedRow {
  package let number: ObjectNumber
  /// The copied record; nil where the context has the object's state already: it is pending there,
  /// or registered and unchanged.
  package let base: UnsafeRawPointer?
  /// The record's length in bytes; 0 where there is no copy.
  package let count: Int32
  /// Which of ``FetchedRecords/slabs`` holds the copy; -1 where none exists.
  package let slabIndex: Int32

  /// A row whose state the context has.
  @inlinable
  package init(known number: ObjectNumber) {
    self.number = number
    base = nil
    count = 0
    slabIndex = -1
  }

  @inlinable
  package init(_ number: ObjectNumber, copy: RecordView, slabIndex: Int) {
    self.number = number
    base = copy.base
    count = Int32(truncatingIfNeeded: copy.count)
    self.slabIndex = Int32(truncatingIfNeeded: slabIndex)
  }

  /// The copied record, or nil.
  @inlinable package var record: RecordView? {
    base.map { RecordView(base: $0, count: Int(count)) }
  }
}

/// What a fetch found, in order, with the slabs that hold the copied records.
///
/// The rows' pointers are valid as long as somebody holds the slab that ``FetchedRow/slabIndex``
/// names.
package struct FetchedRecords {
  package var rows: [FetchedRow]
  package private(set) var slabs: [RecordSlab]
  /// Where the last of the slabs lies, which says faster than its reference whether it is the one.
  private var slabBase: UnsafeMutableRawPointer?

  package init() {
    rows = []
    slabs = []
  }

  /// Forgets everything and keeps the room for rows.
  mutating func removeAll() {
    rows.removeAll(keepingCapacity: true)
    slabs.removeAll(keepingCapacity: true)
    slabBase = nil
  }

  /// Adds a row whose copied record lies in an allocator's present slab.
  @inline(__always)
  mutating func append(_ number: ObjectNumber, _ copy: RecordView, in allocator: SlabAllocator) {
    if slabBase != allocator.slab.base {
      slabBase = allocator.slab.base
      slabs.append(allocator.slab)
    }
    rows.append(FetchedRow(number, copy: copy, slabIndex: slabs.count - 1))
  }

  /// One row, with the slab that its copy lies in where there is one.
  init(_ row: FetchedRow, in slab: RecordSlab) {
    rows = [row]
    slabs = row.slabIndex < 0 ? [] : [slab]
  }
}
