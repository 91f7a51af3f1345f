public import ArborModel

// Each type loads fields of its own kind directly and handles other kinds in a slow path. The
// functions are not generic, because the library is compiled without dynamic exclusivity checks,
// which would be added if these bodies were inlined into the caller's module.

extension ManagedObject {
  @inline(__always)
  final func integer<T>(_ slot: Int, as type: T.Type) -> Int64 {
    let field = binding.attribute(slot, of: self).field
    let record = currentRecord
    if case .int64 = field.kind { return record.load(field, as: Int64.self) }
    return narrowInteger(record, field, slot, type)
  }

  @inline(never)
  private final func narrowInteger<T>(
    _ record: RecordView, _ field: RecordField, _ slot: Int, _ type: T.Type
  ) -> Int64 {
    switch field.kind {
    case .int16: Int64(record.load(field, as: Int16.self))
    case .int32: Int64(record.load(field, as: Int32.self))
    default: wrongType(slot, type)
    }
  }

  @inline(__always)
  final func setInteger<T>(_ slot: Int, _ number: Int64, as type: T.Type) {
    let field = binding.attribute(slot, changing: self).field
    guard case .int64 = field.kind else { return setNarrowInteger(field, slot, number, type) }
    write { buffer, _ in buffer.store(field, number) }
  }

  @inline(never)
  private final func setNarrowInteger<T>(
    _ field: RecordField, _ slot: Int, _ number: Int64, _ type: T.Type
  ) {
    switch field.kind {
    case .int16:
      guard let narrow = Int16(exactly: number) else { outOfRange(slot) }
      write { buffer, _ in buffer.store(field, narrow) }
    case .int32:
      guard let narrow = Int32(exactly: number) else { outOfRange(slot) }
      write { buffer, _ in buffer.store(field, narrow) }
    default: wrongType(slot, type)
    }
  }
}

extension PropertyValue {
  var wholeNumber: Int64? {
    if case .integer(let number) = self { number } else { nil }
  }

  /// The value as a floating-point number, or `nil` if it isn't a number that a double can
  /// represent.
  var number: Double? {
    switch self {
    case .double(let number): number
    case .integer(let number): Double(exactly: number)
    default: nil
    }
  }
}

extension Int: AttributeValue {
  /// Always `integer64`.
  public static var attributeType: AttributeType { .integer64 }
  /// Reads an attribute of any integer type.
  public static func load(from object: ManagedObject, slot: Int) -> Int {
    Int(truncatingIfNeeded: object.integer(slot, as: Int.self))
  }
  /// Writes an attribute of any integer type that can hold the number.
  public func store(in object: ManagedObject, slot: Int) {
    object.setInteger(slot, Int64(self), as: Int.self)
  }
  /// Returns the integer of a dynamic value.
  public static func fromValue(_ value: PropertyValue) -> Int? {
    value.wholeNumber.flatMap(Int.init(exactly:))
  }
}

extension Int64: AttributeValue {
  /// Always `integer64`.
  public static var attributeType: AttributeType { .integer64 }
  /// Reads an attribute of any integer type.
  public static func load(from object: ManagedObject, slot: Int) -> Int64 {
    object.integer(slot, as: Int64.self)
  }
  /// Writes an attribute of any integer type that can hold the number.
  public func store(in object: ManagedObject, slot: Int) {
    object.setInteger(slot, self, as: Int64.self)
  }
  /// Returns the integer of a dynamic value.
  public static func fromValue(_ value: PropertyValue) -> Int64? { value.wholeNumber }
}

extension Int32: AttributeValue {
  /// Always `integer32`.
  public static var attributeType: AttributeType { .integer32 }
  /// Reads a 16-bit or 32-bit integer attribute.
  public static func load(from object: ManagedObject, slot: Int) -> Int32 {
    guard let number = Int32(exactly: object.integer(slot, as: Int32.self)) else {
      object.wrongType(slot, Int32.self)
    }
    return number
  }
  /// Writes an attribute of any integer type that can hold the number.
  public func store(in object: ManagedObject, slot: Int) {
    object.setInteger(slot, Int64(self), as: Int32.self)
  }
  /// Returns the integer of a dynamic value.
  public static func fromValue(_ value: PropertyValue) -> Int32? {
    value.wholeNumber.flatMap(Int32.init(exactly:))
  }
}

extension Int16: AttributeValue {
  /// Always `integer16`.
  public static var attributeType: AttributeType { .integer16 }
  /// Reads a 16-bit integer attribute.
  public static func load(from object: ManagedObject, slot: Int) -> Int16 {
    guard let number = Int16(exactly: object.integer(slot, as: Int16.self)) else {
      object.wrongType(slot, Int16.self)
    }
    return number
  }
  /// Writes an attribute of any integer type.
  public func store(in object: ManagedObject, slot: Int) {
    object.setInteger(slot, Int64(self), as: Int16.self)
  }
  /// Returns the integer of a dynamic value.
  public static func fromValue(_ value: PropertyValue) -> Int16? {
    value.wholeNumber.flatMap(Int16.init(exactly:))
  }
}

extension Bool: AttributeValue {
  /// Always `boolean`.
  public static var attributeType: AttributeType { .boolean }
  /// Reads a Boolean attribute.
  public static func load(from object: ManagedObject, slot: Int) -> Bool {
    let field = object.binding.attribute(slot, of: object).field
    guard case .boolean = field.kind else { object.wrongType(slot, Bool.self) }
    return object.currentRecord.load(field, as: UInt8.self) != 0
  }
  /// Writes a Boolean attribute.
  public func store(in object: ManagedObject, slot: Int) {
    let field = object.binding.attribute(slot, changing: object).field
    guard case .boolean = field.kind else { object.wrongType(slot, Bool.self) }
    object.write { buffer, _ in buffer.store(field, UInt8(self ? 1 : 0)) }
  }
  /// Returns the Boolean of a dynamic value.
  public static func fromValue(_ value: PropertyValue) -> Bool? {
    if case .boolean(let flag) = value { flag } else { nil }
  }
}

extension Double: AttributeValue {
  /// Always `double`.
  public static var attributeType: AttributeType { .double }
  /// Reads an attribute of either floating-point type.
  public static func load(from object: ManagedObject, slot: Int) -> Double {
    let field = object.binding.attribute(slot, of: object).field
    let record = object.currentRecord
    if case .double = field.kind { return record.load(field, as: Double.self) }
    guard case .float = field.kind else { object.wrongType(slot, Double.self) }
    return Double(record.load(field, as: Float.self))
  }
  /// Writes an attribute of either floating-point type, rounding if it has 32 bits. The commit
  /// rejects NaN and finite numbers that exceed the attribute's range.
  public func store(in object: ManagedObject, slot: Int) {
    let field = object.binding.attribute(slot, changing: object).field
    if case .double = field.kind {
      object.write { buffer, _ in buffer.store(field, self) }
      return
    }
    guard case .float = field.kind else { object.wrongType(slot, Double.self) }
    let rounded = Float(self)
    let fits = rounded.isFinite || isInfinite
    object.write { buffer, _ in buffer.store(field, fits ? rounded : .nan) }
  }
  /// Returns the number of a dynamic value, floating-point or integer.
  public static func fromValue(_ value: PropertyValue) -> Double? { value.number }
}

extension Float: AttributeValue {
  /// Always `float`.
  public static var attributeType: AttributeType { .float }
  /// Reads a 32-bit floating-point attribute.
  public static func load(from object: ManagedObject, slot: Int) -> Float {
    let field = object.binding.attribute(slot, of: object).field
    guard case .float = field.kind else { object.wrongType(slot, Float.self) }
    return object.currentRecord.load(field, as: Float.self)
  }
  /// Writes a 32-bit floating-point attribute.
  public func store(in object: ManagedObject, slot: Int) {
    let field = object.binding.attribute(slot, changing: object).field
    guard case .float = field.kind else { object.wrongType(slot, Float.self) }
    object.write { buffer, _ in buffer.store(field, self) }
  }
  /// Returns the number of a dynamic value, floating-point or integer.
  public static func fromValue(_ value: PropertyValue) -> Float? { value.number.map(Float.init) }
}
