public import ArborFoundation
public import ArborModel

extension String: AttributeValue {
  /// Always `string`.
  public static var attributeType: AttributeType { .string }
  /// Reads a string attribute.
  public static func load(from object: ManagedObject, slot: Int) -> String {
    let field = object.binding.attribute(slot, of: object).field
    guard case .string = field.kind else { object.wrongType(slot, String.self) }
    return object.currentRecord.string(field)
  }
  /// Writes a string attribute.
  public func store(in object: ManagedObject, slot: Int) {
    let field = object.binding.attribute(slot, changing: object).field
    guard case .string = field.kind else { object.wrongType(slot, String.self) }
    object.write { buffer, allocator in buffer.store(field, self, allocator: allocator) }
  }
  /// Returns the string of a dynamic value.
  public static func fromValue(_ value: PropertyValue) -> String? {
    if case .string(let text) = value { text } else { nil }
  }
}

extension Date: AttributeValue {
  /// Always `date`.
  public static var attributeType: AttributeType { .date }
  /// Reads a date attribute. Returns the reference date, January 1, 2001, if it is `nil`.
  public static func load(from object: ManagedObject, slot: Int) -> Date {
    let field = object.binding.attribute(slot, of: object).field
    guard case .date = field.kind else { object.wrongType(slot, Date.self) }
    return Date(timeIntervalSinceReferenceDate: object.currentRecord.load(field))
  }
  /// Writes a date attribute.
  public func store(in object: ManagedObject, slot: Int) {
    let field = object.binding.attribute(slot, changing: object).field
    guard case .date = field.kind else { object.wrongType(slot, Date.self) }
    object.write { buffer, _ in buffer.store(field, timeIntervalSinceReferenceDate) }
  }
  /// Returns the date of a dynamic value.
  public static func fromValue(_ value: PropertyValue) -> Date? {
    if case .date(let date) = value { date } else { nil }
  }
}

extension UUID: AttributeValue {
  /// Always `uuid`.
  public static var attributeType: AttributeType { .uuid }
  /// Reads a UUID attribute. Returns the nil UUID, all zeros, if it is `nil`.
  public static func load(from object: ManagedObject, slot: Int) -> UUID {
    let field = object.binding.attribute(slot, of: object).field
    guard case .uuid = field.kind else { object.wrongType(slot, UUID.self) }
    return UUID(uuid: object.currentRecord.load(field))
  }
  /// Writes a UUID attribute.
  public func store(in object: ManagedObject, slot: Int) {
    let field = object.binding.attribute(slot, changing: object).field
    guard case .uuid = field.kind else { object.wrongType(slot, UUID.self) }
    object.write { buffer, _ in buffer.store(field, uuid) }
  }
  /// Returns the UUID of a dynamic value.
  public static func fromValue(_ value: PropertyValue) -> UUID? {
    if case .uuid(let uuid) = value { uuid } else { nil }
  }
}

extension Data: AttributeValue {
  /// Always `binary`.
  public static var attributeType: AttributeType { .binary }
  /// Reads a binary attribute, or the stored bytes of a transformable one. Externally stored data
  /// is read from the store on each access.
  public static func load(from object: ManagedObject, slot: Int) -> Data {
    let field = object.binding.attribute(slot, of: object).field
    guard case .binary = field.kind else { object.wrongType(slot, Data.self) }
    if field.isExternal {
      return fromValue(object.value(of: field, in: object.currentRecord)) ?? Data()
    }
    return Data(object.currentRecord.bytes(field))
  }
  /// Writes a binary attribute, or the stored bytes of a transformable one.
  public func store(in object: ManagedObject, slot: Int) {
    let field = object.binding.attribute(slot, changing: object).field
    guard case .binary = field.kind else { object.wrongType(slot, Data.self) }
    object.write { buffer, allocator in
      withUnsafeBytes { bytes in
        if field.isExternal {
          buffer.store(external: field, bytes: bytes, allocator: allocator)
        } else {
          buffer.store(field, bytes: bytes, allocator: allocator)
        }
      }
    }
  }
  /// Returns the bytes of a dynamic value.
  public static func fromValue(_ value: PropertyValue) -> Data? {
    if case .binary(let data) = value { data } else { nil }
  }
}

extension URL: AttributeValue {
  /// Always `uri`.
  public static var attributeType: AttributeType { .uri }
  /// Reads a URI attribute. Returns the root of the file system if it is `nil`.
  public static func load(from object: ManagedObject, slot: Int) -> URL {
    let field = object.binding.attribute(slot, of: object).field
    guard case .uri = field.kind else { object.wrongType(slot, URL.self) }
    return URL(string: object.currentRecord.string(field)) ?? root
  }
  /// Writes a URI attribute.
  public func store(in object: ManagedObject, slot: Int) {
    let field = object.binding.attribute(slot, changing: object).field
    guard case .uri = field.kind else { object.wrongType(slot, URL.self) }
    object.write { buffer, allocator in
      buffer.store(field, absoluteString, allocator: allocator)
    }
  }
  /// Returns the URI of a dynamic value.
  public static func fromValue(_ value: PropertyValue) -> URL? {
    if case .uri(let url) = value { url } else { nil }
  }

  private static let root = URL(filePath: "/")
}

extension Decimal: AttributeValue {
  /// Averages of decimals are decimals.
  public typealias Average = Decimal
  /// Always `decimal`.
  public static var attributeType: AttributeType { .decimal }
  /// Reads a decimal attribute. Returns zero if it is `nil`.
  public static func load(from object: ManagedObject, slot: Int) -> Decimal {
    let field = object.binding.attribute(slot, of: object).field
    guard case .decimal = field.kind else { object.wrongType(slot, Decimal.self) }
    return DecimalCodec.decode(object.currentRecord.bytes(field)) ?? 0
  }
  /// Writes a decimal attribute. The commit rejects NaN.
  public func store(in object: ManagedObject, slot: Int) {
    let field = object.binding.attribute(slot, changing: object).field
    guard case .decimal = field.kind else { object.wrongType(slot, Decimal.self) }
    object.storeBytes(DecimalCodec.encode(self) ?? DecimalCodec.notANumber, in: field)
  }
  /// Returns the number of a decimal or integer dynamic value.
  public static func fromValue(_ value: PropertyValue) -> Decimal? {
    switch value {
    case .decimal(let number): number
    case .integer(let number): Decimal(number)
    default: nil
    }
  }
}
