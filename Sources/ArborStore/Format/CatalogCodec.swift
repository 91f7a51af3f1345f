package import ArborModel

/// Encodes the catalog numbers of a store's entities, properties and indexes, and the stored
/// names of their databases.
///
/// ```
/// seed u32 · entities u16 · then for each, by number:
///   number u16 · layout u16 · name · stored name
///   properties u16 · then for each, by number: number u16 · name
///   to-many relationships u16 · then for each, by number: number u16 · name · stored name
///   indexes u16 · then for each, by number: number u16 · name · stored name
/// crc32c u32
/// ```
///
/// A name is encoded as its length, a variable-length number, followed by its UTF-8.
package enum CatalogCodec {
  private typealias Parts = [String: SchemaCatalog.StoredPart]

  package static func encode(_ catalog: SchemaCatalog) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(catalog.seed)
    writer.append(UInt16(catalog.entries.count))
    for (name, entry) in catalog.entries.sorted(by: { $0.value.number < $1.value.number }) {
      writer.append(entry.number)
      writer.append(entry.layoutNumber)
      writer.appendRun(name.utf8)
      writer.appendRun(entry.storedName.utf8)
      writer.append(UInt16(entry.properties.count))
      for (property, number) in entry.properties.sorted(by: { $0.value < $1.value }) {
        writer.append(number)
        writer.appendRun(property.utf8)
      }
      append(entry.relationships, to: &writer)
      append(entry.indexes, to: &writer)
    }
    writer.appendChecksum()
    return writer.bytes
  }

  private static func append(_ parts: Parts, to writer: inout ByteWriter) {
    writer.append(UInt16(parts.count))
    for (name, part) in parts.sorted(by: { $0.value.number < $1.value.number }) {
      writer.append(part.number)
      writer.appendRun(name.utf8)
      writer.appendRun(part.storedName.utf8)
    }
  }

  /// Decodes the output of ``encode(_:)``. Returns `nil` for other bytes: numbers start at 1, and
  /// numbers, names and stored names are unique.
  package static func decode(_ bytes: UnsafeRawBufferPointer) -> SchemaCatalog? {
    guard var reader = ByteReader(checked: bytes), let seed: UInt32 = reader.read(),
      let count: UInt16 = reader.read()
    else { return nil }
    var entries: [String: SchemaCatalog.Entry] = [:]
    entries.reserveCapacity(Int(count))
    var numbers = Uniqueness()
    var (relationships, indexes) = (Uniqueness(), Uniqueness())
    for _ in 0..<count {
      guard let number: UInt16 = reader.read(), let layout: UInt16 = reader.read(),
        let name = reader.readText(), let stored = reader.readText(),
        let properties = readProperties(&reader), layout > 0, numbers.insert(number, stored),
        entries[name] == nil
      else { return nil }
      var entry = SchemaCatalog.Entry(number: number, layoutNumber: layout, properties: properties)
      guard let read = readParts(&reader, &relationships),
        let readIndexes = readParts(&reader, &indexes)
      else { return nil }
      (entry.storedName, entry.relationships, entry.indexes) = (stored, read, readIndexes)
      entries[name] = entry
    }
    return reader.isAtEnd ? SchemaCatalog(entries: entries, seed: seed) : nil
  }

  private static func readProperties(_ reader: inout ByteReader) -> [String: UInt16]? {
    guard let count: UInt16 = reader.read() else { return nil }
    var properties: [String: UInt16] = [:]
    properties.reserveCapacity(Int(count))
    var numbers = Uniqueness()
    for _ in 0..<count {
      guard let number: UInt16 = reader.read(), let name = reader.readText(),
        numbers.insert(number), properties[name] == nil
      else { return nil }
      properties[name] = number
    }
    return properties
  }

  private static func readParts(_ reader: inout ByteReader, _ unique: inout Uniqueness) -> Parts? {
    guard let count: UInt16 = reader.read() else { return nil }
    var parts: Parts = [:]
    parts.reserveCapacity(Int(count))
    for _ in 0..<count {
      guard let number: UInt16 = reader.read(), let name = reader.readText(),
        let stored = reader.readText(), unique.insert(number, stored), parts[name] == nil
      else { return nil }
      parts[name] = SchemaCatalog.StoredPart(number: number, storedName: stored)
    }
    return parts
  }

  /// The numbers and stored names decoded so far.
  private struct Uniqueness {
    private var numbers: Set<UInt16> = []
    private var names: Set<String> = []

    /// Returns whether the number and the name, unless it is empty, are new.
    mutating func insert(_ number: UInt16, _ name: String = "") -> Bool {
      number > 0 && numbers.insert(number).inserted && (name.isEmpty || names.insert(name).inserted)
    }
  }
}
