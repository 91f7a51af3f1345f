internal import ArborModel
internal import Foundation

/// The way from the records of one layout of an entity to those of its newest one.
///
/// Worked out once for each older layout: a field that both have is copied, one whose kind has
/// changed since is converted from layout to layout, and one that the older layout does not have
/// holds the value that the first layout with it froze.
final class RecordConversion: Sendable {
  private enum Source: Sendable {
    /// The bytes as they are.
    case copy(RecordField)
    /// The value, by way of what the layouts behind say of it.
    case convert(RecordField, [Stage])
  }

  /// The result of applying one layout to a field's value.
  private struct Stage: Sendable {
    let kind: FieldKind
    /// What nil is read as.
    let null: PropertyValue
  }

  let old: RecordLayout
  private let newest: RecordLayout
  private let fields: [(target: RecordField, source: Source)]
  /// By the newest layout's fields: the field of the older one with the same bytes; nil where there
  /// is none.
  private let copied: [RecordField?]
  private let copies: FieldCopies
  /// Whether every field that both have has the same bytes in both.
  private let isCopied: Bool
  /// A record in which everything that the older layout does not have has its value.
  private let template: [UInt8]

  /// - Parameters:
  ///   - old: The layout of the records.
  ///   - later: The layouts behind it, in the order of their numbers; the last is the newest.
  ///   - newest: The newest as the schema has it.
  /// - Returns: nil where nothing says how a value is converted.
  init?(from old: RecordLayout, through later: [StoredLayout], to newest: RecordLayout) {
    self.old = old
    self.newest = newest
    var fields: [(target: RecordField, source: Source)] = []
    var copied: [RecordField?] = []
    var constants: [PropertyValue] = []
    for field in newest.fields {
      let number = field.catalogNumber
      let first = old.fields.first { $0.catalogNumber == number }
      // A forged newest layout may not have the field, or in another kind than the model.
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

  /// The result of applying the layouts that have a field to its value, one after another; nil
  /// where one of them has it in a kind that the one before does not become.
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

  /// The value that the first layout with a field froze, as the newest reads it.
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

  /// The entity with the fields of the older layout in place of those with the same bytes, so that
  /// records of that one can be evaluated as they are.
  ///
  /// - Returns: nil where one of the attributes is none of them.
  func entity(_ entity: EntitySchema, reading attributes: Set<Int>) -> EntitySchema? {
    let isCopied = attributes.allSatisfy { copied[entity.attributes[$0].fieldIndex] != nil }
    return isCopied ? entity.reading(old, copied) : nil
  }

  /// A stored record of the older layout in the newest one, without checksum.
  func convert(_ record: RecordView, allocator: SlabAllocator) -> RecordView {
    if isCopied, let copy = copies.record(record, over: template, allocator: allocator) {
      return copy
    }
    return convertEach(record, allocator: allocator)
  }

  /// Converts field by field: some are of another kind, or the bytes of a forged record lie
  /// anywhere in it.
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
  /// Copies a field that is not null from a record in which it is of the same kind.
  fileprivate mutating func copy(
    _ target: RecordField, from record: RecordView, _ field: RecordField, allocator: SlabAllocator
  ) {
    guard !target.kind.isVariable else {
      // As it stands there, a reference to a large binary or not.
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
  /// A value of this kind as one of another kind that it converts to.
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
