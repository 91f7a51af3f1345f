import ArborExchange
import ArborModel
import ArborObjects
import Foundation

/// A banner with every kind of relationship.
struct FullBanner: ValueModel, Equatable {
  var id: Int?
  var width: Int?
  var children: [KeyedItem]?
  var tags: Set<Tag>?
  var cover: KeyedItem?
  static let entityName = "Banner"
  static let uniquingKeys: Set<String> = ["id"]
}

/// An item identified by its title.
struct KeyedItem: ValueModel, Hashable {
  struct Failure: Error, Equatable {}

  var title: String?
  var price: Decimal?
  static let entityName = "Item"
  static let uniquingKeys: Set<String> = ["title"]
  /// Transformers that fail for one title, in the middle of a graph.
  static let managedTransformers: [String: ManagedTransformer] = [
    "title": ManagedTransformer { value in
      value.string
    } write: { (title: String?) in
      if title == "fail" { throw Failure() }
      return title.map(PropertyValue.string) ?? .null
    }
  ]
}

struct Tag: ValueModel, Hashable {
  var name: String
  static let uniquingKeys: Set<String> = ["name"]
}
