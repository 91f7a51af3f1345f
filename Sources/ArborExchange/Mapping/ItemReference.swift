import ArborJSON
import ArborModel
import ArborObjects
import Foundation

/// How a relationship is connected with objects that an item names by their keys.
struct ItemReference {
  private var template: ReferenceTemplate
  private var plainRoutes: [ItemRoute]?
  let table: IdentityTable
  private let attributes: AttributeReader
  private(set) var routes: [ItemRoute]
  /// Whether one of the routes has led to a value.
  let use = ReferenceUse()
  /// Whether a key that no object has makes one.
  let createsMissing: Bool

  init(
    _ template: ReferenceTemplate, _ table: IdentityTable, _ attributes: AttributeReader,
    createsMissing: Bool
  ) {
    self.template = template
    self.table = table
    self.attributes = attributes
    self.createsMissing = createsMissing
    plainRoutes = template.plainRoutes
    routes = template.routes
  }

  /// Looks up where the routes begin, once for many items.
  mutating func prepare(_ keys: JSONKeyTable) {
    template.prepare(keys)
    plainRoutes = template.plainRoutes
    routes = template.routes
  }

  /// What an item says of the relationship, by values that `value` finds; the plan receives the
  /// keys, which are asked for at the table's next fetch.
  func link(
    of item: JSONNode, _ plan: inout ItemPlan, _ value: (ItemRoute) -> JSONNode?
  ) -> ItemPlan.Link {
    if let plainRoutes {
      guard let node = plainRoutes.lazy.compactMap(value).first else { return ItemPlan.Link() }
      if node.isNull { return .null(node) }
      var link = named(at: node, plan)
      if node.kind == .array {
        for element in node.items where !element.isNull {
          add(CollectionOfOne(identity(element)), to: &link, &plan)
        }
      } else {
        add(CollectionOfOne(identity(node)), to: &link, &plan)
      }
      return link
    }
    let values = routes.compactMap(value)
    if values.contains(where: \.isNull) { return .null(item) }
    guard let list = values.first(where: { $0.kind == .array }) else {
      let keys = template.keys(element: nil, value)
      var link = named(at: item, plan)
      guard !keys.isEmpty else { return ItemPlan.Link() }
      add(keys.map(identity), to: &link, &plan)
      return link
    }
    var link = named(at: list, plan)
    for element in list.items where !element.isNull {
      add(template.keys(element: element, value).map(identity), to: &link, &plan)
    }
    return link
  }

  /// Notes whether an item has one of the values that keys are made of.
  func noteUse(_ value: (ItemRoute) -> JSONNode?) {
    if !use.isMet { use.isMet = routes.contains { value($0) != nil } }
  }

  /// The names of the values that keys are made of, as a template has them.
  var names: [String] { routes.map(\.description) }

  private func named(at node: JSONNode, _ plan: ItemPlan) -> ItemPlan.Link {
    ItemPlan.Link(kind: .named, node: Int32(node.tapeIndex), first: Int32(plan.targets.count))
  }

  /// Adds an object by the identities that it may have, those left out that no object can have.
  private func add(
    _ keys: some Collection<IdentityKey?>, to link: inout ItemPlan.Link, _ plan: inout ItemPlan
  ) {
    let start = plan.targets.count
    plan.targets.append(0)
    for case let key? in keys {
      plan.targets.append(Int32(table.want(key).keyIndex))
      plan.targets[start] += 1
    }
    link.count += 1
  }

  /// The identity that a key spells; nil where no object can have it.
  private func identity(_ key: String) -> IdentityKey? {
    attributes.key(spelledAs: key, for: table.attributes[0]).flatMap(IdentityKey.init)
  }

  private func identity(_ node: JSONNode) -> IdentityKey? {
    let attribute = table.attributes[0]
    if case .integer64 = attribute.type, let number = node.int64 { return .number(number) }
    if node.kind == .number {
      return attributes.key(node, for: attribute).flatMap(IdentityKey.init)
    }
    return node.string.flatMap(identity)
  }
}

/// Whether the items of an import have what a relationship's keys are made of.
final class ReferenceUse {
  var isMet = false
}

extension ItemPlan.Link {
  fileprivate static func null(_ node: JSONNode) -> ItemPlan.Link {
    ItemPlan.Link(kind: .null, node: Int32(node.tapeIndex))
  }
}

/// A relationship whose objects were named by keys, until all items have been carried out: later
/// ones may make what earlier ones name.
struct PendingReference {
  let object: ManagedObject
  let relationship: ItemRelationship
  /// The index among the plan's targets of its first object.
  let first: Int32
  let count: Int32
  let location: ItemLocation
}

/// The same without objects and documents: for a later batch.
struct WaitingReference {
  let object: ObjectID
  let relationship: String
  /// For each object the identities it may have, the preferred one first.
  let targets: [[IdentityKey]]
  let location: ItemLocation
}

/// Where an item stands, for errors.
enum ItemLocation {
  /// In a document of the plan, at an index of its tape.
  case node(document: Int32, Int32)
  /// By its first byte, when the document is no longer in memory.
  case byte(Int, of: URL)
}

/// What becomes of a key that no object has.
enum UnknownKeyRule {
  /// It is an error, or is left out where there is something that receives it.
  case isError
  /// A later batch may make the object.
  case waits
}
