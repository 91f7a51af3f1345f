internal import ArborFoundation
internal import ArborModel

/// The conversion of records from an older layout of an entity to the newest one.
///
/// Determined once per older layout: a field in both layouts is copied; one whose kind has changed
/// is converted layout by layout; one that the older layout lacks has the value that was frozen in
/// the first layout with it.
final class RecordConversion: Sendable {
  private enum Source: Sendable {
    /// The bytes are copied.
    case copy(RecordField)
    /// The value is converted through the later layouts.
    case convert(RecordField, [Stage])
  }

  /// The step that one layout applies to a field's value.
  private struct Stage: Sendable {
    let kind: FieldKind
    /// The value that replaces `nil`.
    let null: PropertyValue
  }

  let old: RecordLayout
  private let newest: RecordLayout
  private let fields: [(target: RecordField, source: Source)]
  /// For each field of the newest layout, the field of the older one with the same bytes, or `nil`
  /// if there isn't one.
  private let copied: [RecordField?]
  private let copies: FieldCopies
  /// Whether all shared fields have the same bytes in both layouts.
  private let isCopied: Bool
  /// A record that contains the values of all fields that the older layout lacks.
  private let template: [UInt8]

  /// - Parameters:
  ///   - old: The layout of the records.
  ///   - later: The later layouts in the order of their numbers, the newest last.
  ///   - newest: The newest layout as the schema defines it.
  /// - Returns: `nil` if a field has no conversion.
  init?(from old: RecordLayout, through later: [StoredLayout], to newest: RecordLayout) {
    self.old = old
    self.newest = newest
    var fields: [(target: RecordField, source: Source)] = []
    var copied: [RecordField?] = []
    var constants: [PropertyValue] = []
    for field in newest.fields {
      let number = field.catalogNumber
      let first = old.fields.first { $0.catalogNumber == number }
      // A forged newest layout may lack the field or have another kind than the model.
      guard let stages = Self.stages(number, from: first?.kind, later),
        stages.last?.kind ?? field.kind == field.kind, first == nil || !stages.isEmpty
      else { return nil }
      guard let first else {
        constants.append(field.isTransient ? .null : Self.frozen(number, later, stages))
        copied.append(nil)
        continue
      }
      constants.append(.null)
      let isCopied = stages.allSatisfy { $0.kind == first.kind && $0.null.isNull }
      fields.append((field, isCopied ? .copy(first) : .convert(first, stages)))
      copied.append(isCopied ? first : nil)
    }
    self.fields = fields
    self.copied = copied
    isCopied = fields.allSatisfy { if case .copy = $0.source { true } else { false } }
    copies = FieldCopies(from: old, to: newest, copied)
    template =
      RecordLayout(
        entity: newest.entity, number: newest.number,
        fields: zip(newest.fields, constants).map {
          ($0.kind, $0.isTransient, $0.catalogNumber, $1)
        }, external: Set(newest.externalFields.map(\.catalogNumber))
      ).template
  }

  /// Returns the steps of the layouts that have a field, in order, or `nil` if one of them has a
  /// kind that the previous kind cannot be converted to.
  private static func stages(
    _ number: UInt16, from kind: FieldKind?, _ later: [StoredLayout]
  ) -> [Stage]? {
    var stages: [Stage] = []
    var kind = kind
    for stored in later {
      guard let index = stored.layout.fields.firstIndex(where: { $0.catalogNumber == number })
      else { continue }
      let next = stored.layout.fields[index].kind
      if let kind, kind != next, !kind.converts(to: next) { return nil }
      kind = next
      let null = stored.nilAsDefault.contains(number) ? stored.defaults[index] : .null
      stages.append(Stage(kind: next, null: null))
    }
    return stages
  }

  /// Returns the frozen value of the first layout with a field, converted to the newest layout.
  private static func frozen(_ number: UInt16, _ later: [StoredLayout], _ stages: [Stage])
    -> PropertyValue
  {
    for stored in later {
      guard let index = stored.layout.fields.firstIndex(where: { $0.catalogNumber == number })
      else { continue }
      return converted(
        stored.defaults[index], from: stored.layout.fields[index].kind, stages.dropFirst())
    }
    return .null
  }

  private static func converted(
    _ value: PropertyValue, from kind: FieldKind, _ stages: some Sequence<Stage>
  ) -> PropertyValue {
    var (value, kind) = (value, kind)
    for stage in stages {
      if value.isNull { value = stage.null }
      value = kind.converted(value, to: stage.kind)
      kind = stage.kind
    }
    return value
  }

  /// Returns the entity with the older layout's fields, so that its records can be evaluated
  /// without conversion.
  ///
  /// - Returns: `nil` if one of the attributes doesn't have the same bytes in both layouts.
  func entity(_ entity: EntitySchema, reading attributes: Set<Int>) -> EntitySchema? {
    let isCopied = attributes.allSatisfy { copied[entity.attributes[$0].fieldIndex] != nil }
    return isCopied ? entity.reading(old, copied) : nil
  }

  /// Converts a stored record to the newest layout. The result has no checksum.
  func convert(_ record: RecordView, allocator: SlabAllocator) -> RecordView {
    if isCopied, let copy = copies.record(record, over: template, allocator: allocator) {
      return copy
    }
    return convertEach(record, allocator: allocator)
  }

  /// Converts the record field by field, because some kinds have changed or there are many fields.
  private func convertEach(_ record: RecordView, allocator: SlabAllocator) -> RecordView {
    var buffer = RecordBuffer(copying: template, into: allocator)
    for (target, source) in fields {
      switch source {
      case .copy(let field):
        if !record.isNull(field) {
          buffer.copy(target, from: record, field, allocator: allocator)
        }
      case .convert(let field, let stages):
        let value = Self.converted(record.value(field), from: field.kind, stages)
        if !buffer.set(target, value, allocator: allocator) { buffer.setNull(target) }
      }
    }
    buffer.setVersion(record.version)
    return buffer.view
  }
}

extension RecordBuffer {
  /// Copies a non-null field from a record in which it has the same kind.
  fileprivate mutating func copy(
    _ target: RecordField, from record: RecordView, _ field: RecordField, allocator: SlabAllocator
  ) {
    guard !target.kind.isVariable else {
      // Copied as stored, whether or not it refers to a large binary value.
      if target.isExternal { setFlags(view.flags | record.flags) }
      return store(target, bytes: record.bytes(field), allocator: allocator)
    }
    switch target.kind.width {
    case 1: store(target, record.load(field, as: UInt8.self))
    case 2: store(target, record.load(field, as: UInt16.self))
    case 4: store(target, record.load(field, as: UInt32.self))
    case 8: store(target, record.load(field, as: UInt64.self))
    default: store(target, record.load(field, as: UInt128.self))
    }
  }
}

extension FieldKind {
  /// Converts a value of this kind to another kind.
  fileprivate func converted(_ value: PropertyValue, to other: FieldKind) -> PropertyValue {
    switch value {
    case .boolean(let flag) where other.form == .whole: .integer(flag ? 1 : 0)
    case .uuid(let uuid) where other == .string: .string(uuid.uuidString)
    case .uri(let url) where other == .string: .string(url.absoluteString)
    case .date(let date) where other == .double: .double(date.timeIntervalSinceReferenceDate)
    default: value
    }
  }
}
