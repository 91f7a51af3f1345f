internal import ArborModel

/// A property that lies in the record: an attribute or a to-one relationship.
struct RecordProperty {
  let name: String
  let field: RecordField
  /// The field's place in the layout.
  let index: Int
}

extension EntitySchema {
  /// The properties in the record that have a name for users, attributes first.
  var recordProperties: [RecordProperty] {
    attributes.map { RecordProperty(name: $0.name, field: $0.field, index: $0.fieldIndex) }
      + relationships.compactMap { relationship in
        guard case .field(let index) = relationship.storage, !relationship.isHidden else {
          return nil
        }
        return RecordProperty(
          name: relationship.name, field: layout.fields[index], index: index)
      }
  }

  /// The field of a to-one relationship, or nil for to-many ones.
  @inline(__always)
  func field(of relationship: RelationshipSchema) -> RecordField? {
    guard case .field(let index) = relationship.storage else { return nil }
    return layout.fields[index]
  }

  /// This entity's own form of a relationship that an ancestor has: the slot is the same, the field
  /// is not.
  @inline(__always)
  func inverse(of relationship: RelationshipSchema) -> RelationshipSchema {
    relationships[relationship.inverseSlot]
  }
}

extension RecordView {
  /// Whether a field is null here and not there, or of other bytes.
  func differs(from other: RecordView, _ field: RecordField) -> Bool {
    guard isNull(field) == other.isNull(field) else { return true }
    guard field.kind.isVariable else {
      let (offset, width) = (Int(field.offset), field.kind.width)
      return !UnsafeRawBufferPointer(start: base + offset, count: width)
        .elementsEqual(UnsafeRawBufferPointer(start: other.base + offset, count: width))
    }
    let (left, right) = (bytes(field), other.bytes(field))
    return left.count != right.count || !left.elementsEqual(right)
  }

  /// One bit for each field in which the records differ; the highest stands for all from the 64th
  /// on.
  func changedFields(since other: RecordView, in layout: RecordLayout) -> UInt64 {
    var bits: UInt64 = 0
    for (index, field) in layout.fields.enumerated() where differs(from: other, field) {
      bits |= 1 << UInt64(min(index, 63))
    }
    return bits
  }
}
