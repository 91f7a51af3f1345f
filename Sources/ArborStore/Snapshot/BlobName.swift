package import ArborModel

/// The identity of a large binary value; see ``BlobReference``.
package struct BlobName: Sendable, Hashable {
  package let number: ObjectNumber
  /// The property's catalog number.
  package let property: UInt16
  package let version: UInt32
}

/// A large binary value of an object, identified by its whole reference. The name alone doesn't
/// identify a value that was never stored, because another commit may use the same name.
package struct BlobKey: Sendable, Hashable {
  package let name: BlobName
  package let reference: BlobReference

  package init(_ reference: BlobReference, of number: ObjectNumber, _ field: RecordField) {
    name = BlobName(reference, of: number, field)
    self.reference = reference
  }

  init(name: BlobName, reference: BlobReference) {
    self.name = name
    self.reference = reference
  }
}

extension BlobName {
  package init(_ reference: BlobReference, of number: ObjectNumber, _ field: RecordField) {
    self.init(number: number, property: field.catalogNumber, version: reference.version)
  }

  /// Returns the key of a chunk. All parts are big-endian, so that the chunks of a blob are
  /// consecutive.
  package func key(chunk: UInt32) -> [UInt8] {
    var key: [UInt8] = []
    key.reserveCapacity(Self.keySize)
    func append(_ word: some FixedWidthInteger) {
      withUnsafeBytes(of: word.bigEndian) { key.append(contentsOf: $0) }
    }
    append(number.rawValue)
    append(property)
    append(version)
    append(chunk)
    return key
  }

  private static let keySize = 18

  /// Decodes the key of a chunk, or returns `nil` for other bytes.
  package static func of(key: UnsafeRawBufferPointer) -> (name: BlobName, chunk: UInt32)? {
    guard key.count == keySize else { return nil }
    func word<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type) -> T {
      T(bigEndian: key.loadUnaligned(fromByteOffset: offset, as: T.self))
    }
    let name = BlobName(
      number: ObjectNumber(rawValue: word(0, UInt64.self)), property: word(8, UInt16.self),
      version: word(10, UInt32.self))
    return (name, word(14, UInt32.self))
  }
}
