import ArborFoundation
import ArborJSON
import ArborModel
import ArborObjects

/// The encoded form of a value before its destination is known. The form is exact, preserves the
/// order of writing, and leaves nested models unencoded.
enum EncodedValue {
  /// An optional property that is `nil`.
  case missing
  /// A single value, or an explicitly encoded `nil`.
  case value(PropertyValue)
  /// An integer that exceeds the range of `Int64`.
  case unsigned(UInt64)
  case float(Float)
  case model(any ValueModel)
  case list(EncodedParts)
  case members(EncodedParts)
  /// The JSON value that a transformer returned.
  case json(JSONValue)
  /// The property value that a transformer returned.
  case stored(PropertyValue)
  /// The value to pass to the transformer of a transformable attribute.
  case transformable(Any)

  init<T: BinaryInteger>(integer: T) throws {
    if let number = Int64(exactly: integer) {
      self = .value(.integer(number))
    } else if let number = UInt64(exactly: integer) {
      self = .unsigned(number)
    } else {
      throw ArborError(
        .unsupportedProperty,
        "The number has more than 64 bits. Use a transformer for the property.")
    }
  }

  /// A description of the kind of value for messages.
  var found: String {
    switch self {
    case .missing, .value(.null): "nil"
    case .value(.boolean): "a Boolean"
    case .value(.integer), .unsigned, .value(.double), .float, .value(.decimal): "a number"
    case .value(.string): "a string"
    case .value(.date): "a date"
    case .value(.binary): "bytes"
    case .value(.uri): "a URL"
    case .value(.uuid): "a UUID"
    case .model(let model): "a \(type(of: model))"
    case .list: "a list"
    case .members: "a value of several parts"
    case .json, .stored, .transformable, .value: "another value"
    }
  }
}

/// The encoded elements of a list, or the encoded members of a keyed value, in writing order.
final class EncodedParts {
  /// The keys of the members, parallel to `values`. Empty for a list.
  private(set) var keys: [String] = []
  private(set) var values: [EncodedValue] = []
  private var indexes: [String: Int] = [:]

  func append(_ value: EncodedValue) { values.append(value) }

  func replace(at index: Int, _ value: EncodedValue) { values[index] = value }

  /// Sets the value of a member and replaces an earlier value of the same key.
  func set(_ value: EncodedValue, for key: String) {
    if let index = index(of: key) {
      values[index] = value
      return
    }
    keys.append(key)
    values.append(value)
    if !indexes.isEmpty { indexes[key] = keys.count - 1 }
  }

  /// Turns the null that a transformer returned for an absent optional property into a missing
  /// value, which rendering can omit.
  func omitNull(for key: String) {
    guard let index = index(of: key), case .json(.null) = values[index] else { return }
    values[index] = .missing
  }

  private func index(of key: String) -> Int? {
    if keys.count < 16 { return keys.firstIndex(of: key) }
    if indexes.isEmpty { for (index, key) in keys.enumerated() { indexes[key] = index } }
    return indexes[key]
  }
}

/// A converter from encoded values to attribute values. A value that an attribute cannot store
/// exactly is an error.
struct StoredForm {
  let mapping: ModelMapping

  enum Content {
    case value(PropertyValue)
    /// The value to pass to the transformer of a transformable attribute.
    case transformable(Any)

    var isNull: Bool { if case .value(.null) = self { true } else { false } }
  }

  func content(
    _ encoded: EncodedValue, of key: String, for attribute: AttributeCoder
  ) throws(ArborError) -> Content {
    if case .transformable = attribute.type {
      switch encoded {
      case .missing, .value(.null), .value(.binary), .stored: break
      default:
        guard let value = encoded.native else { throw unsupported(encoded, key, attribute) }
        return .transformable(value)
      }
    }
    return .value(try value(encoded, of: key, for: attribute))
  }

  /// Returns the value to store in an attribute or in a part of a composite attribute.
  private func value(
    _ encoded: EncodedValue, of key: String, for attribute: AttributeCoder
  ) throws(ArborError) -> PropertyValue {
    // A value that the attribute would convert, such as a string to a UUID, would not round-trip.
    guard let value = try plain(encoded, of: key, for: attribute),
      value.isNull || attribute.kind.keeps(value)
    else { throw unsupported(encoded, key, attribute) }
    guard let fitting = attribute.type.fitting(value), isExact(value, fitting) else {
      throw mismatch(.typeMismatch, "another value", key, attribute, "Correct the value.")
        .with(offending: "\(value)")
    }
    return fitting
  }

  private func plain(
    _ encoded: EncodedValue, of key: String, for attribute: AttributeCoder
  ) throws(ArborError) -> PropertyValue? {
    switch encoded {
    case .missing: return .null
    case .unsigned(let number): return .decimal(Decimal(number))
    case .float(let number): return .double(Double(number))
    case .value(let value), .stored(let value): return value
    case .members(let parts):
      guard case .composite = attribute.type else { return PropertyValue?.none }
      return try composite(parts, of: key, attribute)
    case .model, .list, .json, .transformable: return PropertyValue?.none
    }
  }

  private func composite(
    _ members: EncodedParts, of key: String, _ attribute: AttributeCoder
  ) throws(ArborError) -> PropertyValue {
    let parts = attribute.parts
    var values: [String: PropertyValue] = [:]
    for (name, value) in zip(members.keys, members.values) {
      guard let part = parts.first(where: { $0.name == name }) else {
        throw error(
          .invalidManagedKey,
          "\(mapping.entity.name).\(attribute.name) has no part “\(name)”, which "
            + "\(mapping.traits.name).\(key) has. Give the properties the names of the parts."
            + NearestName.hint(name, in: parts.map(\.name)), attribute)
      }
      values[name] = try self.value(value, of: "\(key).\(name)", for: part)
    }
    return .composite(values)
  }

  /// Returns whether an integer is preserved exactly.
  private func isExact(_ value: PropertyValue, _ fitting: PropertyValue) -> Bool {
    guard case .integer(let number) = value, case .double(let double) = fitting else { return true }
    return Int64(exactly: double) == number
  }

  private func unsupported(
    _ encoded: EncodedValue, _ key: String, _ attribute: AttributeCoder
  ) -> ArborError {
    if case .unsigned = encoded, case .integer64 = attribute.type {
      return mismatch(.typeMismatch, "another value", key, attribute, "Correct the value.")
    }
    return mismatch(
      .unsupportedProperty, encoded.found, key, attribute,
      "Correct the property's type, or use a transformer.")
  }

  private func mismatch(
    _ code: ArborError.Code, _ found: String, _ key: String, _ attribute: AttributeCoder,
    _ remedy: String
  ) -> ArborError {
    error(
      code,
      "Expected \(attribute.type.expectation) for \(mapping.entity.name).\(attribute.name), but "
        + "found \(found) in \(mapping.traits.name).\(key). \(remedy)", attribute)
  }

  private func error(
    _ code: ArborError.Code, _ message: String, _ attribute: AttributeCoder
  ) -> ArborError {
    ArborError(code, message).with(entity: mapping.entity.name, keyPath: attribute.name)
  }
}

extension EncodedValue {
  var native: Any? {
    switch self {
    case .value(.boolean(let flag)): flag
    case .value(.integer(let number)): Int(number)
    case .unsigned(let number): number
    case .value(.double(let number)): number
    case .float(let number): number
    case .value(.decimal(let number)): number
    case .value(.string(let text)): text
    case .value(.date(let date)): date
    case .value(.uri(let url)): url
    case .value(.uuid(let uuid)): uuid
    case .model(let model): model
    case .transformable(let value): value
    default: nil
    }
  }
}
