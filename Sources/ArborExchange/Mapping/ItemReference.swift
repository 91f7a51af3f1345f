import ArborJSON
import ArborModel

/// How a relationship is connected with objects that an item names by their keys.
final class ItemReference {
  private var template: ReferenceTemplate
  private var plainRoutes: [ItemRoute]?
  private(set) var routes: [ItemRoute]
  /// The entity of the objects, and the attribute that identifies them.
  let entity: EntitySchema
  let attribute: AttributeCoder
  /// Whether a key that no object has creates one.
  let createsMissing: Bool
  /// Whether one of the routes has led to a value in one of the outermost items.
  private(set) var isMet = false

  init(
    _ template: ReferenceTemplate, to entity: EntitySchema, by attribute: AttributeCoder,
    createsMissing: Bool
  ) {
    self.template = template
    self.entity = entity
    self.attribute = attribute
    self.createsMissing = createsMissing
    plainRoutes = template.plainRoutes
    routes = template.routes
  }

  /// Looks up where the routes begin, once for many items.
  func prepare(_ keys: JSONKeyTable) {
    template.prepare(keys)
    plainRoutes = template.plainRoutes
    routes = template.routes
  }

  /// Enters what an item names into a plan, by values that `value` finds.
  ///
  /// - Parameter table: Where the keys are looked up.
  func link(
    of item: JSONNode, at relationship: Int, _ table: IdentityTable, in plan: ExchangePlan,
    _ value: (ItemRoute) -> JSONNode?
  ) -> ExchangePlan.Link {
    var link = ExchangePlan.Link(relationship: Int32(relationship))
    func begin(at node: JSONNode) {
      link.content = .members
      link.isDeferred = true
      link.node = Int32(node.tapeIndex)
      link.first = Int32(plan.members.count)
    }
    func add(_ keys: some Collection<IdentityKey?>) {
      plan.members.append(.named(plan.name(keys, in: table)))
      link.count += 1
    }
    func clear(at node: JSONNode) {
      link.content = .null
      link.node = Int32(node.tapeIndex)
    }
    if let plainRoutes {
      guard let node = plainRoutes.lazy.compactMap(value).first else { return link }
      if node.isNull {
        clear(at: node)
        return link
      }
      begin(at: node)
      if node.kind == .array {
        for element in node.items where !element.isNull { add(CollectionOfOne(key(element))) }
      } else {
        add(CollectionOfOne(key(node)))
      }
      return link
    }
    let values = routes.compactMap(value)
    if values.contains(where: \.isNull) {
      clear(at: item)
    } else if let list = values.first(where: { $0.kind == .array }) {
      begin(at: list)
      for element in list.items where !element.isNull {
        add(template.keys(element: element, value).map(key))
      }
    } else {
      let keys = template.keys(element: nil, value)
      guard !keys.isEmpty else { return link }
      begin(at: item)
      add(keys.map(key))
    }
    return link
  }

  /// Notes whether an item has one of the values that keys are made of.
  func noteUse(_ value: (ItemRoute) -> JSONNode?) {
    if !isMet { isMet = routes.contains { value($0) != nil } }
  }

  /// The names of the values that keys are made of, as a template has them.
  var names: [String] { routes.map(\.description) }

  /// The identity that a key spells; `nil` if no object can have it.
  private func key(_ text: String) -> IdentityKey? {
    attribute.key(spelledAs: text).flatMap(IdentityKey.init)
  }

  private func key(_ node: JSONNode) -> IdentityKey? {
    if case .integer64 = attribute.type, let number = node.int64 { return .number(number) }
    if node.kind == .number { return attribute.key(node).flatMap(IdentityKey.init) }
    return node.string.flatMap(key)
  }
}
