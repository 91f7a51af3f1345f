package import ArborModel

/// One object that a fetch found.
package struct FetchedRow {
  package let number: ObjectNumber
  /// The copied record, or `nil` if the context already has the object's state, pending or
  /// registered.
  package let base: UnsafeRawPointer?
  /// The size of the record in bytes, or 0 without a copy.
  package let count: Int32
  /// The index of the copy's slab in ``FetchedRecords/slabs``, or -1 without a copy.
  package let slabIndex: Int32

  /// Creates a row whose state the context already has.
  package init(known number: ObjectNumber) {
    self.number = number
    base = nil
    count = 0
    slabIndex = -1
  }

  package init(_ number: ObjectNumber, copy: RecordView, slabIndex: Int) {
    self.number = number
    base = copy.base
    count = Int32(truncatingIfNeeded: copy.count)
    self.slabIndex = Int32(truncatingIfNeeded: slabIndex)
  }

  /// The copied record, or `nil` without a copy.
  package var record: RecordView? {
    base.map { RecordView(base: $0, count: Int(count)) }
  }
}

/// The rows of a fetch in order, and the slabs that hold the copied records.
///
/// A row's pointer is valid as long as its slab is retained.
package struct FetchedRecords {
  package var rows: [FetchedRow]
  package private(set) var slabs: [RecordSlab]
  /// The address of the last slab. Comparing it is faster than comparing references.
  private var slabBase: UnsafeMutableRawPointer?

  package init() {
    rows = []
    slabs = []
  }

  /// Removes all rows and slabs but keeps their capacity.
  mutating func removeAll() {
    rows.removeAll(keepingCapacity: true)
    slabs.removeAll(keepingCapacity: true)
    slabBase = nil
  }

  /// Adds a row whose copied record is in the allocator's current slab.
  @inline(__always)
  mutating func append(_ number: ObjectNumber, _ copy: RecordView, in allocator: SlabAllocator) {
    if slabBase != allocator.slab.base {
      slabBase = allocator.slab.base
      slabs.append(allocator.slab)
    }
    rows.append(FetchedRow(number, copy: copy, slabIndex: slabs.count - 1))
  }

  /// Creates a result with a single row. Its copy, if any, is in `slab`.
  init(_ row: FetchedRow, in slab: RecordSlab) {
    rows = [row]
    slabs = row.slabIndex < 0 ? [] : [slab]
  }

  /// The first row, with the slab that contains its copy if it has one.
  package var first: (row: FetchedRow, slab: RecordSlab?)? { rows.first.map { ($0, slabs.first) } }
}
