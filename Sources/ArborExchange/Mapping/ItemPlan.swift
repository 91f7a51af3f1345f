import ArborJSON
import ArborModel

/// Items as their mappings understand them, before anything in a context is touched.
///
/// Flat lists of numbers rather than a tree of objects: an object for each item, each link and each
/// value would cost more than reading them.
struct ItemPlan {
  struct Item {
    /// The index of its mapping among ``mappings``.
    let mapping: Int32
    /// The index of its document among ``documents``.
    let document: Int32
    /// Its own index on the document's tape.
    let node: Int32
    /// The index of its identity in its mapping's table; -1: each such item is a new object.
    var key: Int32
    /// Whether the item within which it stands is a part of its identity.
    let isWithinParent: Bool
    /// The index among ``values`` of its first attribute.
    let values: Int32
    /// The index among ``links`` of its first relationship.
    let links: Int32
    /// The index among ``origins`` of the item that a validator has replaced by this one; -1: none.
    let origin: Int32
  }

  /// What an item says of a relationship.
  struct Link {
    enum Kind: UInt8 {
      case absent
      case null
      /// The item at ``Link/first``; where that is -1, one that a validator has dropped.
      case one
      /// Items, by ``Link/count`` indices among ``ItemPlan/members``.
      case list
      /// Objects by their keys: ``Link/count`` groups among ``ItemPlan/targets``.
      case named
    }

    var kind = Kind.absent
    /// The offset of the value on the tape of the item's document; 0 where none exists.
    var node: Int32 = 0
    /// The index of the members' mapping among ``ItemPlan/mappings``; -1 where items are none.
    var mapping: Int32 = -1
    var first: Int32 = -1
    var count: Int32 = 0
  }

  private(set) var mappings: [ItemMapping] = []
  private(set) var documents: [JSONDocument] = []
  var items: [Item] = []
  /// For each attribute and then each relationship of each item the offset of its value on the
  /// tape; 0 where it is missing.
  var values: [Int32] = []
  /// For each relationship of each item what it says of it.
  var links: [Link] = []
  /// The indices of items that are members of lists.
  private(set) var members: [Int32] = []
  /// For each object that is named by keys the number of keys that it may have, and their indexes
  /// in the table of its relationship, the preferred one first.
  var targets: [Int32] = []
  private(set) var origins: [JSONNode] = []

  /// Enters a mapping, once.
  mutating func index(of mapping: ItemMapping) -> Int32 {
    if let index = mapping.indexInPlan, index < mappings.count, mappings[index] === mapping {
      return Int32(index)
    }
    mapping.indexInPlan = mappings.count
    mappings.append(mapping)
    return Int32(mappings.count - 1)
  }

  /// Enters a document, once where items of one stand behind each other.
  mutating func index(of document: JSONDocument) -> Int32 {
    if documents.last !== document { documents.append(document) }
    return Int32(documents.count - 1)
  }

  /// Enters an item that a validator has replaced.
  mutating func index(ofOrigin node: JSONNode) -> Int32 {
    origins.append(node)
    return Int32(origins.count - 1)
  }

  mutating func index(ofMembers list: [Int32]) -> Int32 {
    members.append(contentsOf: list)
    return Int32(members.count - list.count)
  }

  func node(_ item: Item, _ index: Int32) -> JSONNode { node(in: item.document, index) }

  /// A value of the document at a tape index among ``documents``.
  func node(in document: Int32, _ index: Int32) -> JSONNode {
    JSONNode(document: documents[Int(document)], tapeIndex: Int(index))
  }

  /// For each of some objects that are named by keys the indexes of the keys that it may have.
  ///
  /// - Parameter first: The index among ``targets`` of the first object.
  func keys(of count: Int32, from first: Int32) -> [ArraySlice<Int32>] {
    var next = Int(first)
    return (0..<count).map { _ in
      let keys = targets[next + 1..<next + 1 + Int(targets[next])]
      next = keys.endIndex
      return keys
    }
  }

  /// The item as its document has it, for errors: where a validator has replaced it, the one that
  /// was replaced.
  func origin(_ item: Item) -> JSONNode {
    item.origin < 0 ? node(item, item.node) : origins[Int(item.origin)]
  }

  /// Forgets all items, and the documents that they stand in.
  mutating func removeItems() {
    documents.removeAll()
    items.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
    links.removeAll(keepingCapacity: true)
    members.removeAll(keepingCapacity: true)
    targets.removeAll(keepingCapacity: true)
    origins.removeAll()
  }
}
