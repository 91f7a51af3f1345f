internal import ArborFoundation
internal import ArborModel

/// The values that a context has decoded from JSON attributes, so that a property that is read again
/// isn't decoded again.
///
/// An entry is valid as long as the stored bytes are the same. Changes, merges, undo and rollbacks
/// therefore don't have to remove entries.
final class DecodedValues {
  private struct Key: Hashable {
    let number: ObjectNumber
    let field: UInt16
    let type: ObjectIdentifier
  }

  private class Entry {
    let json: Data
    init(_ json: Data) { self.json = json }
  }

  private final class Value<T>: Entry {
    let value: T

    init(_ value: T, _ json: Data) {
      self.value = value
      super.init(json)
    }
  }

  /// The maximum size of the JSON of all entries, in bytes. When it is exceeded, all are removed.
  private static let maximumSize = 4 << 20
  /// The estimated size of an entry apart from its JSON.
  private static let entrySize = 128

  private var entries: [Key: Entry] = [:]
  private var size = 0

  /// Returns the value that was decoded from the same bytes, or `nil` if there isn't one.
  func value<T>(
    of field: RecordField, in number: ObjectNumber, as type: T.Type, _ json: UnsafeRawBufferPointer
  ) -> T? {
    let key = Key(number: number, field: field.catalogNumber, type: ObjectIdentifier(type))
    guard let entry = entries[key], entry.json.withUnsafeBytes({ $0.hasSameBytes(as: json) }) else {
      return nil
    }
    return (entry as? Value<T>)?.value
  }

  /// Keeps a value decoded from JSON, unless it may contain instances of a class, which all readers
  /// would share.
  func keep<T: Decodable>(
    _ value: T, of field: RecordField, in number: ObjectNumber, _ json: Data
  ) {
    guard json.count <= Self.maximumSize, CodableType(T.self).isCopied else { return }
    if size + json.count + Self.entrySize > Self.maximumSize { removeAll() }
    size += json.count + Self.entrySize
    let key = Key(number: number, field: field.catalogNumber, type: ObjectIdentifier(T.self))
    if let former = entries.updateValue(Value(value, json), forKey: key) {
      size -= former.json.count + Self.entrySize
    }
  }

  private func removeAll() {
    entries = [:]
    size = 0
  }
}

extension UnsafeRawBufferPointer {
  /// Returns whether two buffers contain equal bytes.
  func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count, let first = baseAddress, let second = other.baseAddress
    else { return count == other.count }
    // Safe, because both buffers contain the number of bytes compared.
    return memcmp(first, second, count) == 0
  }
}
