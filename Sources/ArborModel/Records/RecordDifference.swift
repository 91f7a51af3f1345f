/// A record as the difference from another record of the same layout.
///
/// A text that was typed into costs the characters typed instead of a copy: the fixed part and each
/// value of a variable field are stored without what they have in common with the other record at
/// their beginning and end.
///
/// ```
/// ┌──────────┬──────────────────────────────────────────────────┬───
/// │ part + 1 │ bytes shared at the start │ at the end │ others  │ …
/// └──────────┴──────────────────────────────────────────────────┴───
/// ```
///
/// Numbers take 7 bits per byte. Part 0 is the fixed part, the others are the variable fields of the
/// layout. Parts that are equal in both records are left out, and a zero ends the list.
package struct RecordDifference {
  /// The size of the record.
  package let size: Int
  private let bytes: [UInt8]

  /// The number of bytes that the difference takes.
  package var count: Int { bytes.count }

  /// Compares two records of a layout, without commits and checksums. Returns `nil` if the difference would take more than
  /// three quarters of the record.
  package init?(of record: RecordView, from other: RecordView, _ layout: RecordLayout) {
    var middles: [(part: Int, prefix: Int, suffix: Int, bytes: UnsafeRawBufferPointer)] = []
    var size = 1
    for part in 0...layout.variableFields.count {
      let (mine, theirs) = (record.part(part, layout), other.part(part, layout))
      let prefix = mine.commonPrefix(theirs)
      guard prefix < mine.count || mine.count < theirs.count else { continue }
      let suffix = mine.commonSuffix(theirs, maximum: min(mine.count, theirs.count) - prefix)
      let middle = UnsafeRawBufferPointer(rebasing: mine[prefix..<(mine.count - suffix)])
      middles.append((part, prefix, suffix, middle))
      size += 3 * Self.maximumNumberSize + middle.count
      guard size < record.count / 4 * 3 else { return nil }
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    for middle in middles {
      for number in [middle.part + 1, middle.prefix, middle.suffix] {
        Self.append(number, to: &bytes)
      }
      bytes += middle.bytes
    }
    bytes.append(0)
    self.size = record.count
    self.bytes = bytes
  }

  /// Returns the record.
  ///
  /// - Parameter other: The record from which the difference was determined.
  package func record(
    from other: RecordView, _ layout: RecordLayout, into allocator: SlabAllocator
  ) -> RecordView {
    let start = allocator.allocate(size)
    let record = RecordView(base: start, count: size)
    var reader = Reader(bytes: bytes)
    var changed = reader.number()
    var end = 0
    for part in 0...layout.variableFields.count {
      let theirs = other.part(part, layout)
      // The fixed part, which comes first, contains the ends of the others.
      let count =
        part == 0 ? layout.fixedEnd : record.bytes(layout.variableFields[part - 1]).count
      let target = UnsafeMutableRawBufferPointer(start: start + end, count: count)
      end += count
      guard changed == part + 1 else {
        target.copyMemory(from: theirs)
        continue
      }
      let (prefix, suffix) = (reader.number(), reader.number())
      let middle = reader.bytes(count - prefix - suffix)
      target.copyMemory(from: UnsafeRawBufferPointer(rebasing: theirs[..<prefix]))
      middle.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: target[prefix...]).copyMemory(from: $0)
      }
      UnsafeMutableRawBufferPointer(rebasing: target[(count - suffix)...])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: theirs[(theirs.count - suffix)...]))
      changed = reader.number()
    }
    return record
  }

  /// The maximum size of a number: records are smaller than 4 GiB.
  private static let maximumNumberSize = 5

  private static func append(_ number: Int, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  private struct Reader {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func number() -> Int {
      var (number, shift) = (0, 0)
      while true {
        let byte = bytes[position]
        position += 1
        number |= Int(byte & 0x7F) << shift
        guard byte & 0x80 != 0 else { return number }
        shift += 7
      }
    }

    mutating func bytes(_ count: Int) -> ArraySlice<UInt8> {
      defer { position += count }
      return bytes[position..<(position + count)]
    }
  }
}

extension RecordView {
  /// The bytes of the fixed part, or of the variable field with the index `part - 1`.
  fileprivate func part(_ part: Int, _ layout: RecordLayout) -> UnsafeRawBufferPointer {
    part == 0
      ? UnsafeRawBufferPointer(start: base, count: layout.fixedEnd)
      : bytes(layout.variableFields[part - 1])
  }
}

extension UnsafeRawBufferPointer {
  /// Returns the number of bytes at the start that are the same in both buffers.
  fileprivate func commonPrefix(_ other: UnsafeRawBufferPointer) -> Int {
    let maximum = Swift.min(count, other.count)
    var length = 0
    while length + 8 <= maximum,
      loadUnaligned(fromByteOffset: length, as: UInt64.self)
        == other.loadUnaligned(fromByteOffset: length, as: UInt64.self)
    {
      length += 8
    }
    while length < maximum, self[length] == other[length] { length += 1 }
    return length
  }

  /// Returns the number of bytes at the end that are the same in both buffers, up to a maximum.
  fileprivate func commonSuffix(_ other: UnsafeRawBufferPointer, maximum: Int) -> Int {
    var length = 0
    while length + 8 <= maximum,
      loadUnaligned(fromByteOffset: count - length - 8, as: UInt64.self)
        == other.loadUnaligned(fromByteOffset: other.count - length - 8, as: UInt64.self)
    {
      length += 8
    }
    while length < maximum, self[count - 1 - length] == other[other.count - 1 - length] {
      length += 1
    }
    return length
  }
}
