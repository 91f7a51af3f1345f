internal import ArborFoundation
package import ArborJSON

/// Values of JSON attributes.
extension PropertyValue {
  /// Creates the value of a JSON value: objects become composites, arrays lists, and numbers
  /// integers, floating-point numbers or decimals, whichever represents them exactly, otherwise the
  /// nearest floating-point number.
  ///
  /// Returns `nil` if two members of an object have canonically equivalent names, of which a
  /// composite would keep one, or if the value has more levels than ``JSONLimits`` allow.
  package init?(json: JSONValue) { self.init(json, depth: 0) }

  /// The greatest number of nested lists and composites, which readers of JSON accept.
  private static let maximumDepth = JSONLimits().maximumDepth

  private init?(_ json: JSONValue, depth: Int) {
    switch json {
    case .null: self = .null
    case .bool(let flag): self = .boolean(flag)
    case .number(let number):
      guard let value = Self.exact(number) ?? number.double.map(Self.double)
      else { return nil }
      self = value
    case .string(let text): self = .string(text)
    case .array(let elements):
      guard depth < Self.maximumDepth else { return nil }
      var values: [PropertyValue] = []
      values.reserveCapacity(elements.count)
      for element in elements {
        guard let value = PropertyValue(element, depth: depth + 1) else { return nil }
        values.append(value)
      }
      self = .list(values)
    case .object(let members):
      guard depth < Self.maximumDepth else { return nil }
      var parts: [String: PropertyValue] = [:]
      for (key, member) in members {
        guard let value = PropertyValue(member, depth: depth + 1),
          parts.updateValue(value, forKey: key) == nil
        else { return nil }
      }
      self = .composite(parts)
    }
  }

  /// The value as `JSONEncoder` writes it by default: dates as seconds since 2001-01-01 UTC, bytes
  /// as base64. Infinities are the strings `Infinity` and `-Infinity`. `nil` if the value is or
  /// contains an object's ID or NaN, or has too many levels.
  package var json: JSONValue? { json(depth: 0) }

  private func json(depth: Int) -> JSONValue? {
    switch self {
    case .null: return .null
    case .boolean(let flag): return .bool(flag)
    case .integer(let number): return .number(JSONNumber(number))
    case .double(let number): return Self.json(number)
    case .decimal(let number): return JSONNumber(number).map(JSONValue.number)
    case .string(let text): return .string(text)
    case .date(let date): return Self.json(date.timeIntervalSinceReferenceDate)
    case .binary(let data): return .string(data.base64EncodedString())
    case .uuid(let uuid): return .string(uuid.uuidString)
    case .uri(let url): return .string(url.absoluteString)
    case .objectID: return nil
    case .list(let values):
      guard depth < Self.maximumDepth else { return nil }
      var elements: [JSONValue] = []
      elements.reserveCapacity(values.count)
      for value in values {
        guard let element = value.json(depth: depth + 1) else { return nil }
        elements.append(element)
      }
      return .array(elements)
    case .composite(let parts):
      guard depth < Self.maximumDepth else { return nil }
      var members: [JSONObject.Element] = []
      members.reserveCapacity(parts.count)
      for (name, part) in parts {
        guard let member = part.json(depth: depth + 1) else { return nil }
        members.append((name, member))
      }
      return .object(JSONObject(distinct: members))
    }
  }

  /// Returns a number as an integer, a floating-point number or a decimal without loss, or `nil` if
  /// it has more than 38 digits.
  package static func exact(_ number: JSONNumber) -> PropertyValue? {
    if let whole = number.int64 { return .integer(whole) }
    if let double = number.double, JSONNumber(double) == number { return .double(double) }
    return number.decimal.map(PropertyValue.decimal)
  }

  private static func json(_ number: Double) -> JSONValue? {
    if let finite = JSONNumber(number) { return .number(finite) }
    if number.isNaN { return nil }
    return .string(number > 0 ? "Infinity" : "-Infinity")
  }
}

extension PropertyValue {
  /// The string or number that represents a date, UUID, URI or binary value in JSON, or `nil` for any
  /// other value.
  var jsonScalar: PropertyValue? {
    switch self {
    case .date, .uuid, .uri, .binary: json.flatMap(PropertyValue.init(json:))
    default: nil
    }
  }
}
