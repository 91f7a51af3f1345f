internal import ArborFoundation
internal import ArborJSON

extension CodablePath {
  /// Extracts the part from the value of a JSON attribute.
  package func value(of attribute: PropertyValue) -> PropertyValue {
    attribute.json?.canonicalBytes.withUnsafeBytes(value) ?? .null
  }

  /// Extracts the part from JSON text.
  ///
  /// - Returns: The value, or null if a key is missing, the value is `null` or doesn't have the
  ///   part's current type, or the bytes are not valid JSON.
  func value(in json: UnsafeRawBufferPointer) -> PropertyValue {
    guard let found = JSONFinder.find(keyBytes, in: json) else { return .null }
    guard let scalar else { return JSONKind.value(ofBytes: found) ?? .null }
    return scalar.value(of: found)
  }
}

extension CodablePath {
  /// Returns the part in the form that an index stores, or null if the part is missing or doesn't have
  /// its type.
  package func indexedValue(in json: UnsafeRawBufferPointer) -> PropertyValue {
    guard let fieldKind else { return .null }
    return IndexablePattern.stored(value(in: json), in: fieldKind) ?? .null
  }

  /// Returns the elements of the list in the form that an index stores, without those that don't have
  /// their type.
  package func indexedElements(in json: UnsafeRawBufferPointer) -> [PropertyValue] {
    guard let elementKind, case .list(let elements) = value(in: json) else { return [] }
    return elements.compactMap { element in
      element.isNull ? nil : IndexablePattern.stored(element, in: elementKind)
    }
  }
}

extension JSONShape.Scalar {
  /// Returns the value of a JSON string, number or Boolean, or null for bytes of any other form.
  func value(of bytes: UnsafeRawBufferPointer) -> PropertyValue {
    switch self {
    case .boolean:
      switch bytes.first {
      case UInt8(ascii: "t") where bytes.elementsEqual("true".utf8): .boolean(true)
      case UInt8(ascii: "f") where bytes.elementsEqual("false".utf8): .boolean(false)
      default: .null
      }
    case .integer: JSONNumber.int64(bytes).map(PropertyValue.integer) ?? Self.decimal(bytes)
    case .double: Self.double(bytes).map(PropertyValue.double) ?? .null
    // Rounds to 32 bits, because the shortest digits of a `Float` denote a different `Double`.
    case .float: Self.double(bytes).map { .double(Double(Float($0))) } ?? .null
    case .decimal: Self.decimal(bytes)
    case .date:
      JSONNumber.double(bytes).map { .date(Date(timeIntervalSinceReferenceDate: $0)) } ?? .null
    case .string: JSONScanner.text(bytes).map(PropertyValue.string) ?? .null
    case .uuid: JSONScanner.text(bytes).flatMap(UUID.init).map(PropertyValue.uuid) ?? .null
    case .uri: JSONScanner.text(bytes).flatMap { URL(string: $0) }.map(PropertyValue.uri) ?? .null
    case .binary:
      JSONScanner.text(bytes).flatMap { Data(base64Encoded: $0) }.map(PropertyValue.binary) ?? .null
    }
  }

  /// Returns a number, or the infinity that a string represents, or `nil` for any other JSON.
  private static func double(_ bytes: UnsafeRawBufferPointer) -> Double? {
    if let number = JSONNumber.double(bytes) { return number }
    if bytes.elementsEqual(#""Infinity""#.utf8) { return .infinity }
    return bytes.elementsEqual(#""-Infinity""#.utf8) ? -.infinity : nil
  }

  private static func decimal(_ bytes: UnsafeRawBufferPointer) -> PropertyValue {
    JSONNumber(bytes)?.decimal.map(PropertyValue.decimal) ?? .null
  }
}
