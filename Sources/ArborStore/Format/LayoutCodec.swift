package import ArborModel

/// A record layout as stored, with the value that each field has in older records.
package struct StoredLayout: Sendable {
  package let layout: RecordLayout
  /// The default values, in the order of the layout's fields.
  package let defaults: [PropertyValue]
  /// The catalog numbers of the fields whose `nil` in older records is read as the default.
  package var nilAsDefault: Set<UInt16> = []
}

extension StoredLayout {
  /// Creates the newest layout of an entity.
  package init(_ entity: EntitySchema, nilAsDefault: Set<UInt16> = []) {
    var defaults = [PropertyValue](repeating: .null, count: entity.layout.fields.count)
    for attribute in entity.attributes {
      let value = attribute.description.defaultValue
      defaults[attribute.fieldIndex] = attribute.description.type.fitting(value) ?? .null
    }
    self.init(layout: entity.layout, defaults: defaults, nilAsDefault: nilAsDefault)
  }
}

/// Encodes record layouts.
///
/// ```
/// fields u16 · then for each:
///   kind u8 · flags u8 · catalog number u16 · default
/// crc32c u32
/// ```
///
/// Flag 1 marks a transient field; flag 2 a field whose `nil` in records of earlier layouts is read
/// as the default. A default is encoded as the length of its ``ValueCodec`` encoding, a
/// variable-length number, followed by that encoding.
package enum LayoutCodec {
  private static let transientFlag: UInt8 = 1
  private static let nilAsDefaultFlag: UInt8 = 2

  package static func encode(_ stored: StoredLayout) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(UInt16(stored.layout.fields.count))
    for (field, value) in zip(stored.layout.fields, stored.defaults) {
      let number = field.catalogNumber
      writer.append(field.kind.rawValue)
      writer.append(
        (field.isTransient ? transientFlag : 0)
          | (stored.nilAsDefault.contains(number) ? nilAsDefaultFlag : 0))
      writer.append(number)
      writer.appendRun(ValueCodec.encode(value))
    }
    writer.appendChecksum()
    return writer.bytes
  }

  /// Decodes the output of ``encode(_:)``. Returns `nil` for other bytes.
  ///
  /// - Parameter seed: The seed of the store's catalog, for a layout that reads records.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer, entity: UInt16, number: UInt16, seed: UInt32 = 0
  ) -> StoredLayout? {
    guard var reader = ByteReader(checked: bytes), let count: UInt16 = reader.read() else {
      return nil
    }
    var fields:
      [(kind: FieldKind, isTransient: Bool, catalogNumber: UInt16, defaultValue: PropertyValue)] =
        []
    var nilAsDefault: Set<UInt16> = []
    for _ in 0..<count {
      guard let kind = reader.read(UInt8.self).flatMap(FieldKind.init),
        let flags: UInt8 = reader.read(), let catalogNumber: UInt16 = reader.read(),
        let value = reader.readRun().flatMap(ValueCodec.decode)
      else { return nil }
      if flags & nilAsDefaultFlag != 0 { nilAsDefault.insert(catalogNumber) }
      fields.append(
        (
          kind: kind, isTransient: flags & transientFlag != 0, catalogNumber: catalogNumber,
          defaultValue: value
        ))
    }
    guard reader.isAtEnd else { return nil }
    return StoredLayout(
      layout: RecordLayout(entity: entity, number: number, seed: seed, fields: fields),
      defaults: fields.map(\.defaultValue), nilAsDefault: nilAsDefault)
  }
}
