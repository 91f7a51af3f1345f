import ArborJSON
import ArborModel
import ArborObjects
import Foundation

/// What a value encodes itself as, before it is known where it goes: exact, in the order in which
/// it was written, models not yet taken apart.
enum EncodedValue {
  /// An optional property that is nil.
  case missing
  /// A single value, or nil that was written as such.
  case value(PropertyValue)
  /// Beyond `Int64`.
  case unsigned(UInt64)
  case float(Float)
  case model(any ValueModel)
  case list(EncodedParts)
  case members(EncodedParts)
  /// What a transformer made for a document.
  case json(JSONValue)
  /// What a transformer made for a store.
  case stored(PropertyValue)
  /// What the transformer of a transformable attribute gets.
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

  /// The value in words, for messages.
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

/// The parts of a list, or the members of a value, as they are written one after the other.
final class EncodedParts {
  /// Of members: their keys, as many as values.
  private(set) var keys: [String] = []
  private(set) var values: [EncodedValue] = []
  private var indexes: [String: Int] = [:]

  func append(_ value: EncodedValue) { values.append(value) }

  /// Writes a member; one that was written before is replaced.
  func set(_ value: EncodedValue, for key: String) {
    if let index = index(of: key) {
      values[index] = value
      return
    }
    keys.append(key)
    values.append(value)
    if !indexes.isEmpty { indexes[key] = keys.count - 1 }
  }

  /// Makes the null that a transformer wrote for an optional property one that may be left out.
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

/// Turns what properties encode themselves as into what attributes keep, exactly or not at all.
struct StoredForm {
  let mapping: ModelMapping

  enum Content {
    case value(PropertyValue)
    /// What the transformer of a transformable attribute gets.
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

  /// The value that an attribute, or a part of a composite one, keeps.
  private func value(
    _ encoded: EncodedValue, of key: String, for attribute: AttributeCoder
  ) throws(ArborError) -> PropertyValue {
    // What the attribute would convert, as a text into a UUID, would not come back as it went.
    guard let value = try plain(encoded, of: key, for: attribute),
      value.isNull || attribute.kind.keeps(value)
    else { throw unsupported(encoded, key, attribute) }
    guard let fitting = attribute.type.fitting(value), isExact(value, fitting) else {
      throw error(
        .typeMismatch,
        "takes \(attribute.type.expectation), but \(mapping.traits.name).\(key) has another value. "
          + "Correct it.", attribute
      ).with(offending: "\(value)")
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
          "has no part “\(name)”, which \(mapping.traits.name).\(key) has. Name its properties as "
            + "its parts." + NearestName.hint(name, in: parts.map(\.name)), attribute)
      }
      values[name] = try self.value(value, of: "\(key).\(name)", for: part)
    }
    return .composite(values)
  }

  /// Whether a whole number has come through unchanged.
  private func isExact(_ value: PropertyValue, _ fitting: PropertyValue) -> Bool {
    guard case .integer(let number) = value, case .double(let double) = fitting else { return true }
    return Int64(exactly: double) == number
  }

  private func unsupported(
    _ encoded: EncodedValue, _ key: String, _ attribute: AttributeCoder
  ) -> ArborError {
    if case .unsigned = encoded, case .integer64 = attribute.type {
      return error(
        .typeMismatch,
        "takes \(attribute.type.expectation), but \(mapping.traits.name).\(key) has another value. "
          + "Correct it.", attribute)
    }
    return error(
      .unsupportedProperty,
      "takes \(attribute.type.expectation), but \(mapping.traits.name).\(key) is \(encoded.found). "
        + "Correct its type, or use a transformer.", attribute)
  }

  private func error(
    _ code: ArborError.Code, _ words: String, _ attribute: AttributeCoder
  ) -> ArborError {
    ArborError(code, "\(mapping.entity.name).\(attribute.name) \(words)")
      .with(entity: mapping.entity.name, keyPath: attribute.name)
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
