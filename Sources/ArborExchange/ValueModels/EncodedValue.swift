import ArborJSON
import ArborModel
import Foundation

/// What a value encodes itself as, before it is known where it goes: exact, in the order in which
/// it was written, models not yet taken apart.
enum EncodedValue {
  /// An optional property that is nil.
  case missing
  /// A single value, or nil that was written as such.
  case value(Value)
  /// Beyond `Int64`.
  case unsigned(UInt64)
  case float(Float)
  case model(any ValueModel)
  case list(EncodedParts)
  case members(EncodedParts)
  /// What a transformer made for a document.
  case json(JSONValue)
  /// What a transformer made for a store.
  case stored(Value)
  /// What the transformer of a transformable attribute gets.
  case transformable(Any)

  init<T: BinaryInteger>(integer: T) throws {
    if let number = Int64(exactly: integer) {
      self = .value(.integer(number))
    } else if let number = UInt64(exactly: integer) {
      self = .unsigned(number)
    } else {
      throw ArborError(
        .unsupportedProperty, "The number has more than 64 bits; give its property a transformer.")
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
