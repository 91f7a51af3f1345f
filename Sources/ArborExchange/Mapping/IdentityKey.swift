import ArborModel

/// The values of the attributes that identify an object.
///
/// Values are those that the attributes keep, so that one key has one form.
enum IdentityKey: Hashable {
  /// The value of a single attribute: the common case, without an array.
  case one(Value)
  /// The values of several attributes, in their order.
  case several([Value])

  /// Nil where a value is null: what lacks a part of its identity is like nothing else.
  init?(_ values: [Value]) {
    guard !values.isEmpty, !values.contains(where: \.isNull) else { return nil }
    self = values.count == 1 ? .one(values[0]) : .several(values)
  }

  /// The values in the order of their attributes.
  var values: [Value] {
    switch self {
    case .one(let value): [value]
    case .several(let values): values
    }
  }
}
