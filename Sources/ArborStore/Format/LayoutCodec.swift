package import ArborModel

/// A record layout as the store keeps it, with the value that each field has in older records.
package struct StoredLayout: Sendable {
  package let layout: RecordLayout
  /// In the order of the layout's fields.
  package let defaults: [Value]

  package init(layout: RecordLayout, defaults: [Value]) {
    self.layout = layout
    self.defaults = defaults
  }

  /// The newest layout of an entity.
  package init(_ entity: EntitySchema) {
    layout = entity.layout
    var defaults = [Value](repeating: .null, count: entity.layout.fields.count)
    for attribute in entity.attributes {
      let value = attribute.description.defaultValue
      defaults[attribute.fieldIndex] = attribute.description.type.fitting(value) ?? .null
    }
    self.defaults = defaults
  }
}

/// A layout as bytes.
///
/// ```
/// fields u16 · then for each: kind u8 · flags u8 (1: transient) · catalogue number u16 · default
/// crc32c u32
/// ```
///
/// A default is the length of its ``ValueCodec`` form as a variable number, then that form.
package enum LayoutCodec {
  package static func encode(_ stored: StoredLayout) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(UInt16(stored.layout.fields.count))
    for (field, value) in zip(stored.layout.fields, stored.defaults) {
      writer.append(field.kind.rawValue)
      writer.append(UInt8(field.isTransient ? 1 : 0))
      writer.append(field.catalogNumber)
      writer.appendRun(ValueCodec.encode(value))
    }
    writer.appendChecksum()
    return writer.bytes
  }

  /// The layout of bytes that ``encode(_:)`` made, or nil for others.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer, entity: UInt16, number: UInt16
  ) -> StoredLayout? {
    guard var reader = ByteReader(checked: bytes), let count: UInt16 = reader.read() else {
      return nil
    }
    var fields: [(kind: FieldKind, isTransient: Bool, catalogNumber: UInt16, defaultValue: Value)] =
      []
    for _ in 0..<count {
      guard let kind = reader.read(UInt8.self).flatMap(FieldKind.init),
        let flags: UInt8 = reader.read(), let catalogNumber: UInt16 = reader.read(),
        let value = reader.readRun().flatMap(ValueCodec.decode)
      else { return nil }
      fields.append(
        (kind: kind, isTransient: flags & 1 != 0, catalogNumber: catalogNumber, value))
    }
    guard reader.isAtEnd else { return nil }
    return StoredLayout(
      layout: RecordLayout(entity: entity, number: number, fields: fields),
      defaults: fields.map(\.defaultValue))
  }
}
