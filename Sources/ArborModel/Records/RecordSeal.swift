extension RecordView {
  /// Returns the size of the record once it is sealed: compact, without transient fields, with a
  /// checksum.
  package func sealedSize(_ layout: RecordLayout) -> Int {
    var size = layout.fixedEnd + RecordLayout.checksumSize
    for field in layout.variableFields where !field.isTransient && !isNull(field) {
      size += bytes(field).count
    }
    return size
  }

  /// Writes the record in its stored form.
  ///
  /// - Parameters:
  ///   - target: A buffer of exactly ``sealedSize(_:)`` bytes, with any alignment.
  ///   - layout: The record's layout.
  ///   - key: The object's number, which is included in the checksum.
  ///   - version: The version of the stored record.
  package func seal(
    into target: UnsafeMutableRawBufferPointer, layout: RecordLayout, key: ObjectNumber,
    version: UInt32
  ) {
    guard let start = target.baseAddress else { return }
    let end = copyCompactly(to: start, layout) { !$0.isTransient }
    start.storeBytes(of: version, toByteOffset: RecordLayout.versionOffset, as: UInt32.self)
    for field in layout.fields where field.isTransient {
      let byte = start + Int(field.nullOffset)
      byte.storeBytes(of: byte.load(as: UInt8.self) | field.nullMask, as: UInt8.self)
      (start + Int(field.offset)).initializeMemory(
        as: UInt8.self, repeating: 0, count: field.kind.width)
    }
    start.storeBytes(
      of: RecordChecksum.of(start, count: end, entity: layout.entity, key: key),
      toByteOffset: end, as: UInt32.self)
  }
}
