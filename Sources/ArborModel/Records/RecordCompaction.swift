/// Records without unused bytes. Replaced values leave some; see ``RecordBuffer``.
extension RecordView {
  /// The size of the record in memory without unused bytes.
  package func compactSize(_ layout: RecordLayout) -> Int {
    var size = layout.fixedEnd
    for field in layout.variableFields where !isNull(field) { size += bytes(field).count }
    return size
  }

  /// Whether more bytes are unused than used.
  func isSparse(_ layout: RecordLayout) -> Bool {
    // Computing the size takes longer than copying a short record.
    count > layout.fixedEnd + 256 && count > 2 * compactSize(layout)
  }

  /// Returns a copy without unused bytes, with the values of variable fields in the order of the
  /// layout.
  package func compacted(_ layout: RecordLayout, into allocator: SlabAllocator) -> RecordView {
    let size = compactSize(layout)
    let start = allocator.allocate(size)
    copyCompactly(to: start, layout)
    return RecordView(base: start, count: size)
  }

  /// Copies the fixed part, and then the values of the variable fields that `isIncluded` admits.
  /// There must be space for them.
  ///
  /// - Returns: The number of bytes copied.
  @discardableResult
  @inline(__always)
  func copyCompactly(
    to start: UnsafeMutableRawPointer, _ layout: RecordLayout,
    where isIncluded: (RecordField) -> Bool = { _ in true }
  ) -> Int {
    start.copyMemory(from: base, byteCount: layout.fixedEnd)
    var end = layout.fixedEnd
    for field in layout.variableFields where isIncluded(field) {
      let slot = start + Int(field.offset)
      guard !isNull(field) else {
        slot.storeBytes(of: 0, as: UInt64.self)
        continue
      }
      let value = bytes(field)
      slot.storeBytes(of: UInt32(end), as: UInt32.self)
      if let source = value.baseAddress {
        (start + end).copyMemory(from: source, byteCount: value.count)
      }
      end += value.count
    }
    return end
  }
}

extension RecordBuffer {
  /// Copies a record of a layout, leaving space to grow. Unused bytes are left out if they exceed
  /// the used ones, so that the copies of a value that grows step by step remain proportional to it.
  package init(
    copying record: RecordView, _ layout: RecordLayout, into allocator: SlabAllocator
  ) {
    guard record.isSparse(layout) else {
      self.init(copying: record.bytes, into: allocator)
      return
    }
    let present = allocator.slab
    self.init(compacting: record, layout, capacity: record.compactSize(layout), into: allocator)
    withExtendedLifetime(present) {}
  }

  /// Removes unused bytes if they exceed the used ones. Called whenever the record has been moved,
  /// which is rare enough: its capacity doubles.
  package mutating func compactIfSparse(_ layout: RecordLayout, allocator: SlabAllocator) {
    guard view.isSparse(layout) else { return }
    let present = slab
    self = RecordBuffer(
      compacting: view, layout, capacity: 2 * view.compactSize(layout), into: allocator)
    withExtendedLifetime(present) {}
  }
}
