import ArborModel

/// The values of the attributes that identify an object.
///
/// Values are those that the attributes keep, so that one key has one form.
enum IdentityKey: Hashable {
  /// A single whole number, which most keys are: hashed and compared as such.
  case number(Int64)
  case text(String)
  /// Everything else, in the order of the attributes.
  case values([Value])

  /// Nil where a value is null: what lacks a part of its identity is like nothing else.
  init?(_ values: [Value]) {
    guard !values.isEmpty, !values.contains(where: \.isNull) else { return nil }
    if values.count == 1 { self.init(values[0]) } else { self = .values(values) }
  }

  /// The identity of objects that their parents alone tell apart.
  static let none = IdentityKey.values([])

  /// The identity of a single attribute; nil where its value is null.
  init?(_ value: Value) {
    switch value {
    case .null: return nil
    case .integer(let number): self = .number(number)
    case .string(let text): self = .text(text)
    default: self = .values([value])
    }
  }

  subscript(index: Int) -> Value {
    switch self {
    case .number(let number): .integer(number)
    case .text(let text): .string(text)
    case .values(let values): values[index]
    }
  }
}
