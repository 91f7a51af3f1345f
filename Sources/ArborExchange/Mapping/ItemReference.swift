import ArborModel
import ArborObjects
import Foundation

/// How a relationship is connected with objects that an item names by their keys.
struct ItemReference {
  private var template: ReferenceTemplate
  private var plainRoute: ItemRoute?
  /// Where the objects are looked up.
  let table: IdentityTable
  private let attributes: AttributeReader

  init(_ template: ReferenceTemplate, _ table: IdentityTable, _ attributes: AttributeReader) {
    self.template = template
    self.table = table
    self.attributes = attributes
    plainRoute = template.plainRoute
  }

  /// The routes to the values that keys are made of.
  var routes: [ItemRoute] { template.routes }

  /// Looks up where the routes begin, once for many items.
  mutating func prepare(_ keys: JSONKeyTable) {
    template.prepare(keys)
    plainRoute = template.plainRoute
  }

  /// What an item says of the relationship; the keys are asked for at the table's next fetch.
  ///
  /// - Parameter value: Finds the item's values.
  func named(in item: JSONNode, _ value: (ItemRoute) -> JSONNode?) -> PlannedMembers {
    if let plainRoute {
      guard let node = value(plainRoute) else { return .absent }
      if node.isNull { return .null(node) }
      if node.kind != .array { return named([[identity(node)]], at: node) }
      return named(node.items.map { [identity($0)] }, at: node)
    }
    let values = routes.compactMap(value)
    if values.contains(where: \.isNull) { return .null(item) }
    guard let list = values.first(where: { $0.kind == .array }) else {
      let keys = template.keys(element: nil, value)
      return keys.isEmpty ? .absent : named([keys.map(identity)], at: item)
    }
    return named(list.items.map { template.keys(element: $0, value).map(identity) }, at: list)
  }

  private func named(_ targets: [[IdentityKey?]], at node: JSONNode) -> PlannedMembers {
    let targets = targets.map { $0.compactMap(\.self) }
    for key in targets.joined() { table.want(key) }
    return .named(PlannedReference(place: .node(node), targets: targets))
  }

  /// The identity that a key spells; nil where no object can have it.
  private func identity(_ key: String) -> IdentityKey? {
    attributes.key(spelledAs: key, for: table.attributes[0]).flatMap(IdentityKey.init)
  }

  private func identity(_ node: JSONNode) -> IdentityKey? {
    let attribute = table.attributes[0]
    if case .integer64 = attribute.type, let number = node.int64 { return .number(number) }
    return (node.string ?? node.number?.text).flatMap(identity)
  }
}

/// What an item says of a relationship by naming keys.
struct PlannedReference {
  /// Where an item stands, for errors.
  enum Place {
    case node(JSONNode)
    /// By its first byte, when the document is no longer in memory.
    case byte(Int, of: URL)

    /// Line and column. Reads the file again where it has to.
    var location: ArborError.SourceLocation? {
      switch self {
      case .node(let node): node.location
      case .byte(let offset, let url):
        (try? Data(contentsOf: url, options: .mappedIfSafe)).map { data in
          let lines = data.prefix(offset).split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
          return ArborError.SourceLocation(
            source: url.path, line: lines.count,
            column: String(decoding: lines.last ?? Data(), as: UTF8.self).count + 1)
        }
      }
    }
  }

  let place: Place
  /// For each object the identities it may have, the preferred one first.
  let targets: [[IdentityKey]]

  /// The same without the document in memory.
  func outOfMemory(_ url: URL) -> PlannedReference {
    guard case .node(let node) = place else { return self }
    return PlannedReference(place: .byte(node.offset, of: url), targets: targets)
  }
}

/// A relationship whose objects were named by keys, until all items have been carried out: later
/// ones may make what earlier ones name.
struct PendingReference {
  let object: ManagedObject
  let entity: String
  let relationship: ItemRelationship
  let reference: PlannedReference
}

/// What becomes of a key that no object has.
enum UnknownKeyRule {
  case isError
  case meansNothing
  /// A later batch may make the object.
  case waits
}
