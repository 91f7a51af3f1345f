/// The common fields of two layouts as runs of bytes and bits. A record is converted from one
/// layout to the other with a few copies, regardless of its number of fields.
package struct FieldCopies: Sendable {
  /// A run of bytes or null bits, with its positions in the fixed parts of both layouts.
  private struct Run: Sendable {
    let source: Int
    let target: Int
    var count: Int

    var mask: UInt64 { count >= 64 ? .max : (1 << UInt64(count)) - 1 }

    /// Extends the run by another one if they are adjacent in both layouts, and returns whether
    /// they are.
    mutating func extend(by other: Run) -> Bool {
      guard source + count == other.source, target + count == other.target else { return false }
      count += other.count
      return true
    }
  }

  private let slots: [Run]
  private let bits: [Run]
  /// The variable fields of the newer layout, with the older layout's field with the same bytes.
  private let variable: [(target: RecordField, source: RecordField?)]
  private let fixedEnd: Int
  /// Whether the null bits of both layouts fit into one word.
  private let isNarrow: Bool
  private let nullBytes: Int
  private let hasExternal: Bool

  /// Creates the runs for two layouts of an entity.
  ///
  /// - Parameter copied: For each field of the newer layout, the older layout's field with the same
  ///   bytes, or `nil`.
  package init(from old: RecordLayout, to newest: RecordLayout, _ copied: [RecordField?]) {
    var slots: [Run] = []
    var bits: [Run] = []
    for (target, source) in zip(newest.fields, copied) {
      guard let source else { continue }
      Self.append(Run(source: source.position, target: target.position, count: 1), to: &bits)
      guard !target.kind.isVariable else { continue }
      Self.append(
        Run(source: Int(source.offset), target: Int(target.offset), count: source.kind.width),
        to: &slots)
    }
    self.slots = slots
    self.bits = bits
    variable = newest.variableFields.map { ($0, copied[$0.position]) }
    fixedEnd = newest.fixedEnd
    isNarrow = old.fields.count <= 64 && newest.fields.count <= 64
    nullBytes = (newest.fields.count + 7) / 8
    hasExternal = !newest.externalFields.isEmpty
  }

  private static func append(_ run: Run, to runs: inout [Run]) {
    if runs.isEmpty || !runs[runs.count - 1].extend(by: run) { runs.append(run) }
  }

  /// Returns a new record with the common fields of both layouts. All other fields are those of a
  /// template.
  ///
  /// - Parameters:
  ///   - record: The stored record.
  ///   - template: A record of the newer layout, without a checksum.
  /// - Returns: The new record, without a checksum, or `nil` if the layouts have too many fields.
  package func record(
    _ record: RecordView, over template: [UInt8], allocator: SlabAllocator
  ) -> RecordView? {
    guard isNarrow else { return nil }
    // The old variable area is at most as long as the old record.
    let base = allocator.allocate(template.count + record.count)
    let count = template.withUnsafeBytes { bytes in
      guard let source = bytes.baseAddress else { return 0 }
      base.copyMemory(from: source, byteCount: fixedEnd)
      for run in slots {
        (base + run.target).copyMemory(from: record.base + run.source, byteCount: run.count)
      }
      return copyVariable(of: record, RecordView(base: source, count: bytes.count), to: base)
    }
    copyBits(of: record, to: base)
    if hasExternal {
      let flags = base + RecordLayout.flagsOffset
      flags.storeBytes(of: flags.load(as: UInt8.self) | record.flags, as: UInt8.self)
    }
    base.storeBytes(of: record.version, toByteOffset: RecordLayout.versionOffset, as: UInt32.self)
    return RecordView(base: base, count: count)
  }

  /// Copies the values of the variable fields, and returns the size of the new record.
  private func copyVariable(
    of record: RecordView, _ template: RecordView, to base: UnsafeMutableRawPointer
  ) -> Int {
    var area = VariableArea(of: base, from: fixedEnd)
    for (target, source) in variable {
      area.append(source.map { record.bytes($0) } ?? template.bytes(target), as: target)
    }
    return area.end
  }

  private func copyBits(of record: RecordView, to base: UnsafeMutableRawPointer) {
    let present = record.nullBits
    let target = base + RecordLayout.headerSize
    var word: UInt64 = 0
    for byte in 0..<nullBytes {
      word |= UInt64(target.load(fromByteOffset: byte, as: UInt8.self)) << UInt64(8 * byte)
    }
    for run in bits {
      word &= ~(run.mask << UInt64(run.target))
      word |= (present >> UInt64(run.source) & run.mask) << UInt64(run.target)
    }
    for byte in 0..<nullBytes {
      target.storeBytes(
        of: UInt8(truncatingIfNeeded: word >> UInt64(8 * byte)), toByteOffset: byte, as: UInt8.self)
    }
  }
}

extension RecordView {
  /// The first 64 null bits. Bits after the last field are arbitrary.
  fileprivate var nullBits: UInt64 {
    let start = RecordLayout.headerSize
    guard count < start + 8 else {
      return base.loadUnaligned(fromByteOffset: start, as: UInt64.self)
    }
    return (start..<count).reduce(0) { word, offset in
      word | UInt64(base.load(fromByteOffset: offset, as: UInt8.self))
        << UInt64(8 * (offset - start))
    }
  }
}
