package import ArborModel

/// The numbers of a store's entities and properties as bytes.
///
/// ```
/// entities u16 · then for each, by number:
///   number u16 · layout u16 · name · properties u16 · then for each, by number: number u16 · name
/// crc32c u32
/// ```
///
/// A name is its length as a variable number, then its UTF-8.
package enum CatalogCodec {
  package static func encode(_ catalog: SchemaCatalog) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(UInt16(catalog.entries.count))
    for (name, entry) in catalog.entries.sorted(by: { $0.value.number < $1.value.number }) {
      writer.append(entry.number)
      writer.append(entry.layoutNumber)
      writer.appendRun(name.utf8)
      writer.append(UInt16(entry.properties.count))
      for (property, number) in entry.properties.sorted(by: { $0.value < $1.value }) {
        writer.append(number)
        writer.appendRun(property.utf8)
      }
    }
    writer.appendChecksum()
    return writer.bytes
  }

  /// The catalogue of bytes that ``encode(_:)`` made, or nil for others: numbers begin with 1, and
  /// none is used twice, as no name is.
  package static func decode(_ bytes: UnsafeRawBufferPointer) -> SchemaCatalog? {
    guard var reader = ByteReader(checked: bytes), let count: UInt16 = reader.read() else {
      return nil
    }
    var entries: [String: SchemaCatalog.Entry] = [:]
    entries.reserveCapacity(Int(count))
    var numbers: Set<UInt16> = []
    for _ in 0..<count {
      guard let number: UInt16 = reader.read(), let layout: UInt16 = reader.read(),
        let name = reader.readText(), let properties = readProperties(&reader), number > 0,
        layout > 0, numbers.insert(number).inserted, entries[name] == nil
      else { return nil }
      entries[name] = SchemaCatalog.Entry(
        number: number, layoutNumber: layout, properties: properties)
    }
    return reader.isAtEnd ? SchemaCatalog(entries: entries) : nil
  }

  private static func readProperties(_ reader: inout ByteReader) -> [String: UInt16]? {
    guard let count: UInt16 = reader.read() else { return nil }
    var properties: [String: UInt16] = [:]
    properties.reserveCapacity(Int(count))
    var numbers: Set<UInt16> = []
    for _ in 0..<count {
      guard let number: UInt16 = reader.read(), let name = reader.readText(), number > 0,
        numbers.insert(number).inserted, properties[name] == nil
      else { return nil }
      properties[name] = number
    }
    return properties
  }
}
