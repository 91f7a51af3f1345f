/// A reference to a large binary value that is stored outside its record.
///
/// ```
///  0       8        12          16           20        28
/// ┌───────┬────────┬───────────┬────────────┬─────────┐
/// │ mark  │form u32│version u32│checksum u32│length u64│
/// └───────┴────────┴───────────┴────────────┴─────────┘
/// ```
///
/// A blob's ID consists of the object's number, the property's catalog number and `version`, so
/// IDs don't have to be allocated, and the owner is evident. `form` is 1. If it is 0, the bytes
/// that follow are the value itself, which happens to start with the mark. Neither form occurs in a
/// record without the flag ``RecordLayout/blobFlag``, where the bytes are always the value.
package struct BlobReference: Sendable, Hashable {
  /// A number that is unique among the property's blobs over time.
  package let version: UInt32
  /// CRC-32C of the value.
  package let checksum: UInt32
  package let length: UInt64

  package init(version: UInt32, checksum: UInt32, length: UInt64) {
    self.version = version
    self.checksum = checksum
    self.length = length
  }

  package static let size = 28
  /// "ArborBlb" as stored in the file.
  static let mark: UInt64 = 0x626C_4272_6F62_7241
  static let headSize = 12

  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.size)
    func append(_ word: some FixedWidthInteger) {
      withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
    }
    append(Self.mark)
    append(UInt32(1))
    append(version)
    append(checksum)
    append(length)
    return bytes
  }

  /// Returns whether a value would be mistaken for a reference.
  static func isMarked(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.count >= 8 && UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)) == mark
  }
}

/// The content of a field whose value may be stored outside the record.
package enum BlobContent {
  case value(UnsafeRawBufferPointer)
  case reference(BlobReference)
}

extension RecordView {
  /// Returns the content of a field with external storage. It is empty if the field is null.
  package func content(_ field: RecordField) -> BlobContent {
    let bytes = bytes(field)
    guard flags & RecordLayout.blobFlag != 0, BlobReference.isMarked(bytes),
      bytes.count >= BlobReference.headSize
    else { return .value(bytes) }
    func word<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type) -> T {
      T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: T.self))
    }
    guard word(8, UInt32.self) == 1, bytes.count == BlobReference.size else {
      return .value(UnsafeRawBufferPointer(rebasing: bytes[BlobReference.headSize...]))
    }
    return .reference(
      BlobReference(
        version: word(12, UInt32.self), checksum: word(16, UInt32.self),
        length: word(20, UInt64.self)))
  }

  /// Returns the blob that a field refers to, or `nil` if the value is null or stored in the
  /// record.
  package func blob(_ field: RecordField) -> BlobReference? {
    guard field.isExternal, !isNull(field), case .reference(let reference) = content(field) else {
      return nil
    }
    return reference
  }

  package var flags: UInt8 { base.load(fromByteOffset: RecordLayout.flagsOffset, as: UInt8.self) }
}

extension RecordBuffer {
  package func setFlags(_ flags: UInt8) {
    base.storeBytes(of: flags, toByteOffset: RecordLayout.flagsOffset, as: UInt8.self)
  }

  /// Writes the value of a field with external storage into the record.
  package mutating func store(
    external field: RecordField, bytes: UnsafeRawBufferPointer, allocator: SlabAllocator
  ) {
    guard BlobReference.isMarked(bytes) else {
      return store(field, bytes: bytes, allocator: allocator)
    }
    var escaped: [UInt8] = []
    withUnsafeBytes(of: BlobReference.mark.littleEndian) { escaped.append(contentsOf: $0) }
    escaped.append(contentsOf: [0, 0, 0, 0])
    escaped.append(contentsOf: bytes)
    setFlags(view.flags | RecordLayout.blobFlag)
    escaped.withUnsafeBytes { store(field, bytes: $0, allocator: allocator) }
  }

  /// Writes a reference in place of a value.
  package mutating func store(
    _ field: RecordField, _ reference: BlobReference, allocator: SlabAllocator
  ) {
    setFlags(view.flags | RecordLayout.blobFlag)
    reference.bytes.withUnsafeBytes { store(field, bytes: $0, allocator: allocator) }
  }

  /// Copies a field's content from another record with the same layout.
  package mutating func copy(
    _ field: RecordField, from record: RecordView, allocator: SlabAllocator
  ) {
    guard !record.isNull(field) else { return setNull(field) }
    if field.isExternal { setFlags(view.flags | record.flags & RecordLayout.blobFlag) }
    guard !field.kind.isVariable else {
      return store(field, bytes: record.bytes(field), allocator: allocator)
    }
    switch field.kind.width {
    case 1: store(field, record.load(field, as: UInt8.self))
    case 2: store(field, record.load(field, as: UInt16.self))
    case 4: store(field, record.load(field, as: UInt32.self))
    case 8: store(field, record.load(field, as: UInt64.self))
    default: store(field, record.load(field, as: (UInt64, UInt64).self))
    }
  }
}
