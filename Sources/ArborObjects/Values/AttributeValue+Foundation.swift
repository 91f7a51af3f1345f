public import ArborModel
public import Foundation

extension ManagedObject {
  /// The field of an attribute that has to be of one kind.
  @inline(__always)
  final func field<T>(_ slot: Int, _ kind: FieldKind, _ type: T.Type) -> RecordField {
    let field = binding.attribute(slot).field
    guard field.kind == kind else { wrongType(slot, type) }
    return field
  }
}

extension String: AttributeValue {
  /// Reads a text attribute.
  public static func load(from object: ManagedObject, slot: Int) -> String {
    let field = object.field(slot, .string, String.self)
    return object.currentRecord.string(field)
  }
  /// Writes a text attribute.
  public func store(in object: ManagedObject, slot: Int) {
    let field = object.field(slot, .string, String.self)
    object.write { buffer, allocator in buffer.store(field, self, allocator: allocator) }
  }
  /// The text a value holds.
  public static func fromValue(_ value: Value) -> String? {
    if case .string(let text) = value { text } else { nil }
  }
}

extension Date: AttributeValue {
  /// Reads a date attribute; the reference date of 2001 where it has none.
  public static func load(from object: ManagedObject, slot: Int) -> Date {
    let field = object.field(slot, .date, Date.self)
    return Date(timeIntervalSinceReferenceDate: object.currentRecord.load(field))
  }
  /// Writes a date attribute.
  public func store(in object: ManagedObject, slot: Int) {
    let field = object.field(slot, .date, Date.self)
    object.write { buffer, _ in buffer.store(field, timeIntervalSinceReferenceDate) }
  }
  /// The date a value holds.
  public static func fromValue(_ value: Value) -> Date? {
    if case .date(let date) = value { date } else { nil }
  }
}

extension UUID: AttributeValue {
  /// Reads a UUID attribute; all zero where it has none.
  public static func load(from object: ManagedObject, slot: Int) -> UUID {
    let field = object.field(slot, .uuid, UUID.self)
    return UUID(uuid: object.currentRecord.load(field))
  }
  /// Writes a UUID attribute.
  public func store(in object: ManagedObject, slot: Int) {
    let field = object.field(slot, .uuid, UUID.self)
    object.write { buffer, _ in buffer.store(field, uuid) }
  }
  /// The UUID a value holds.
  public static func fromValue(_ value: Value) -> UUID? {
    if case .uuid(let uuid) = value { uuid } else { nil }
  }
}

extension Data: AttributeValue {
  /// Reads a binary attribute, or the archived form of a transformable one.
  public static func load(from object: ManagedObject, slot: Int) -> Data {
    let field = object.field(slot, .binary, Data.self)
    return Data(object.currentRecord.bytes(field))
  }
  /// Writes a binary attribute, or the archived form of a transformable one.
  public func store(in object: ManagedObject, slot: Int) {
    let field = object.field(slot, .binary, Data.self)
    object.write { buffer, allocator in
      withUnsafeBytes { buffer.store(field, bytes: $0, allocator: allocator) }
    }
  }
  /// The bytes a value holds.
  public static func fromValue(_ value: Value) -> Data? {
    if case .binary(let data) = value { data } else { nil }
  }
}

extension URL: AttributeValue {
  /// Reads a URI attribute; the root of the file system where it has none.
  public static func load(from object: ManagedObject, slot: Int) -> URL {
    let field = object.field(slot, .uri, URL.self)
    return URL(string: object.currentRecord.string(field)) ?? root
  }
  /// Writes a URI attribute.
  public func store(in object: ManagedObject, slot: Int) {
    let field = object.field(slot, .uri, URL.self)
    object.write { buffer, allocator in
      buffer.store(field, absoluteString, allocator: allocator)
    }
  }
  /// The URI a value holds.
  public static func fromValue(_ value: Value) -> URL? {
    if case .uri(let url) = value { url } else { nil }
  }

  private static let root = URL(filePath: "/")
}

extension Decimal: AttributeValue {
  /// Reads a decimal attribute.
  public static func load(from object: ManagedObject, slot: Int) -> Decimal {
    let field = object.field(slot, .decimal, Decimal.self)
    return DecimalCodec.decode(object.currentRecord.bytes(field)) ?? 0
  }
  /// Writes a decimal attribute. NaN, which no attribute holds, makes it nil.
  public func store(in object: ManagedObject, slot: Int) {
    let field = object.field(slot, .decimal, Decimal.self)
    guard let bytes = DecimalCodec.encode(self) else { return object.setNullAttribute(slot) }
    object.write { buffer, allocator in
      bytes.withUnsafeBytes { buffer.store(field, bytes: $0, allocator: allocator) }
    }
  }
  /// The number a value holds, decimal or whole.
  public static func fromValue(_ value: Value) -> Decimal? {
    switch value {
    case .decimal(let number): number
    case .integer(let number): Decimal(number)
    default: nil
    }
  }
}
