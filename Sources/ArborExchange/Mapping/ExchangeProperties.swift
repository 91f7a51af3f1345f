import ArborModel

/// One attribute, shared by all values that are read for it: a description is large to copy.
final class ExchangeAttribute {
  let name: String
  let type: AttributeType
  private let description: AttributeDescription
  /// Of dates: what their texts look like.
  private(set) lazy var dates = DateReader(description)

  init(_ description: AttributeDescription) {
    name = description.name
    type = description.type
    self.description = description
  }
}

/// One relationship, shared by all links that are read for it.
final class ExchangeRelationship {
  let name: String
  let destination: String
  let isToMany: Bool

  init(_ description: RelationshipDescription) {
    name = description.name
    destination = description.destination
    isToMany = description.isToMany
  }
}
