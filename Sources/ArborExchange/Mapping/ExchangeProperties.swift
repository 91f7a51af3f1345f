import ArborJSON
import ArborModel
import ArborObjects
import Foundation

/// A property of an entity, shared by all that is read for it: a description is large to copy.
///
/// Belongs to one exchange with one store.
class ExchangeMember {
  let name: String
  /// The entity through which the property was reached.
  let entityName: String
  let userInfo: [String: String]
  private var knownIndex: PropertySlots?

  fileprivate init(_ name: String, of entityName: String, _ userInfo: [String: String]) {
    self.name = name
    self.entityName = entityName
    self.userInfo = userInfo
  }

  /// Where objects of the entity have the property, looked up once.
  final func slots(in context: ManagedObjectContext) throws(ArborError) -> PropertySlots {
    if let knownIndex { return knownIndex }
    let slots = try context.reader.slots(of: name, in: entityName)
    knownIndex = slots
    return slots
  }
}

final class ExchangeAttribute: ExchangeMember {
  let type: AttributeType
  /// Whether the store computes the value, so that no document sets it.
  let isDerived: Bool
  private let description: AttributeDescription
  private let rules: TextRules
  /// Of dates: what their texts look like.
  private(set) lazy var dates = DateReader(description, rules)
  /// Of numbers: how texts spell them; nil: texts are no numbers.
  private(set) lazy var numbers =
    (description.userInfo["NumberFormat"] ?? description.userInfo["numberFormat"])
    .map { NumberFormat(locale: Locale(identifier: $0)) } ?? rules.numberFormat
    ?? (conversions.contains(.numbersFromTexts) ? .spreadsheet : nil)
  var conversions: ImportConversions { rules.conversions }

  init(_ description: AttributeDescription, of entityName: String, _ rules: TextRules) {
    type = description.type
    isDerived = description.derivation != nil
    self.description = description
    self.rules = rules
    super.init(description.name, of: entityName, description.userInfo)
  }
}

final class ExchangeRelationship: ExchangeMember {
  let destination: String
  let inverse: String?
  let isToMany: Bool
  let isOrdered: Bool
  let isOptional: Bool

  init(_ description: RelationshipDescription, of entityName: String) {
    destination = description.destination
    inverse = description.inverse
    isOptional = description.isOptional
    isToMany = description.isToMany
    isOrdered = description.isOrdered
    super.init(description.name, of: entityName, description.userInfo)
  }

  /// Makes objects the members of an object; false where they are already.
  func set(
    _ members: [ManagedObject], of object: ManagedObject, at slots: PropertySlots
  ) throws(ArborError) -> Bool {
    let former = object.objects(at: slots)
    let isSame = isOrdered ? former == members : Set(former) == Set(members)
    if !isSame { try object.setObjects(members, at: slots) }
    return !isSame
  }

  /// Checks that one object may have so many members at once.
  func check(_ count: Int, limit: Int, at node: JSONNode) throws(ArborError) {
    guard isToMany, count > limit else { return }
    throw node.error(
      "\(entityName).\(name) gets \(count) members, and a seed may give it \(limit); split it, or "
        + "raise maximumMembers.", code: .limitExceeded
    ).with(entity: entityName, keyPath: name)
  }
}
