extension RecordView {
  /// Returns the size of the record once it is sealed: without transient values, with commit and
  /// checksum.
  package func sealedSize(_ layout: RecordLayout) -> Int {
    var size = contentSize(layout) + RecordLayout.trailerSize
    for field in layout.transientFields where field.kind.isVariable { size -= bytes(field).count }
    return size
  }

  /// Writes the record in its stored form.
  ///
  /// - Parameters:
  ///   - target: A buffer of exactly ``sealedSize(_:)`` bytes, with any alignment.
  ///   - layout: The record's layout.
  ///   - key: The object's number, which is included in the checksum.
  ///   - version: The version of the stored record.
  ///   - commit: The sequence number of the commit that writes the record.
  package func seal(
    into target: UnsafeMutableRawBufferPointer, layout: RecordLayout, key: ObjectNumber,
    version: UInt32, commit: UInt64
  ) {
    guard let start = target.baseAddress else { return }
    let end = target.count - RecordLayout.trailerSize
    if layout.transientFields.isEmpty {
      start.copyMemory(from: base, byteCount: end)
    } else {
      copyStoredFields(to: start, layout)
    }
    start.storeBytes(of: version, toByteOffset: RecordLayout.versionOffset, as: UInt32.self)
    // The two bytes too many are those of the checksum, which is written afterwards.
    start.storeBytes(of: commit, toByteOffset: end, as: UInt64.self)
    let checksum = end + RecordLayout.commitSize
    start.storeBytes(
      of: RecordChecksum.of(start, count: checksum, layout, key: key),
      toByteOffset: checksum, as: UInt32.self)
  }

  /// Copies the record with null in place of transient values.
  private func copyStoredFields(to start: UnsafeMutableRawPointer, _ layout: RecordLayout) {
    start.copyMemory(from: base, byteCount: layout.fixedEnd)
    var area = VariableArea(of: start, from: layout.fixedEnd)
    for field in layout.variableFields {
      area.append(
        field.isTransient ? UnsafeRawBufferPointer(start: nil, count: 0) : bytes(field), as: field)
    }
    for field in layout.transientFields {
      let byte = start + Int(field.nullOffset)
      byte.storeBytes(of: byte.load(as: UInt8.self) | field.nullMask, as: UInt8.self)
      guard !field.kind.isVariable else { continue }
      (start + Int(field.offset)).initializeMemory(
        as: UInt8.self, repeating: 0, count: field.kind.width)
    }
  }
}

/// Fills the variable area of a record that is built in memory with space for it.
struct VariableArea {
  private let record: UnsafeMutableRawPointer
  /// The size of the record so far.
  private(set) var end: Int
  private let start: Int

  init(of record: UnsafeMutableRawPointer, from start: Int) {
    self.record = record
    self.start = start
    end = start
  }

  /// Appends the bytes of the next variable field and stores their end.
  @inline(__always)
  mutating func append(_ value: UnsafeRawBufferPointer, as field: RecordField) {
    if let source = value.baseAddress {
      (record + end).copyMemory(from: source, byteCount: value.count)
    }
    end += value.count
    record.storeBytes(
      of: UInt32(end - start), toByteOffset: Int(field.offset), as: UInt32.self)
  }
}
