import ArborJSON
import ArborModel

/// Reads the values of attributes where a document may also ask for a fresh number.
///
/// A value is read twice: for the plan, so that nothing is touched by a document with a fault, and
/// when its object is there. To keep a million values meanwhile would cost more than to read them.
struct ExchangeValueReader {
  /// The text that stands for a fresh unique number.
  static let uniqueID = "<uniqueID>"

  let attributes: AttributeReader

  /// What an attribute is set to; nil for a fresh unique number.
  ///
  /// - Throws: ``ArborError`` `invalidDocument` or `unparsableValue` with the value's place.
  func content(
    _ node: JSONNode, for attribute: ExchangeAttribute, of entity: ExchangeEntity
  ) throws(ArborError) -> Value? {
    guard node.isText(Self.uniqueID) else {
      return try attributes.value(node, for: attribute, of: entity.name)
    }
    guard attribute.type.kind.holdsUniqueNumbers else {
      throw node.error(
        "\(entity.name).\(attribute.name) cannot hold a unique number; draw it for an integer "
          + "attribute."
      ).with(entity: entity.name, keyPath: attribute.name)
    }
    return nil
  }

  /// A unique number in the form that an attribute keeps.
  static func value(_ number: Int64, for attribute: ExchangeAttribute) throws(ArborError) -> Value {
    guard let value = attribute.type.kind.unique(number) else {
      throw ArborError(
        .limitExceeded,
        "The next unique number does not fit the attribute; make it a 64-bit integer.")
    }
    return value
  }
}
