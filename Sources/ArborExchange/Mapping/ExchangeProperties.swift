import ArborModel

/// One attribute, shared by all values that are read for it: a description is large to copy.
final class ExchangeAttribute {
  let name: String
  let type: AttributeType
  /// Whether the store computes the value, so that no document sets it.
  let isDerived: Bool
  /// The model's notes on the attribute.
  let userInfo: [String: String]
  private let description: AttributeDescription
  private let dateRules: DateRules
  /// Of dates: what their texts look like.
  private(set) lazy var dates = DateReader(description, dateRules)

  init(_ description: AttributeDescription, _ dateRules: DateRules) {
    name = description.name
    type = description.type
    isDerived = description.derivation != nil
    userInfo = description.userInfo
    self.description = description
    self.dateRules = dateRules
  }
}

/// One relationship, shared by all links that are read for it.
final class ExchangeRelationship {
  let name: String
  let destination: String
  let isToMany: Bool
  let isOrdered: Bool
  /// The model's notes on the relationship.
  let userInfo: [String: String]

  init(_ description: RelationshipDescription) {
    name = description.name
    destination = description.destination
    isToMany = description.isToMany
    isOrdered = description.isOrdered
    userInfo = description.userInfo
  }
}
