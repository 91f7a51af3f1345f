import ArborExchange
import ArborModel
import ArborObjects

/// A class whose instances form cyclic graphs.
final class Node: ValueModel {
  var name: String?
  var group: Int?
  var parent: Node?
  var children: [Node] = []
  var friends: Set<Node>?
  var best: Node?

  init(_ name: String, group: Int? = nil) {
    self.name = name
    self.group = group
  }

  static var backReferences: [AnyKeyPath] { [\Node.parent, \Node.friends, \Node.best] }
  static let uniquingKeys: Set<String> = ["name", "group"]
}

extension Node: Hashable {
  static func == (left: Node, right: Node) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A class that is not final, with renamed keys and a to-one relationship that is not a back
/// reference.
class OpenNode: ValueModel {
  var title: String?
  var above: OpenNode?
  var liked: OpenNode?
  var below: Set<Below>

  enum CodingKeys: String, CodingKey {
    case title = "name"
    case above = "parent"
    case liked = "best"
    case below = "children"
  }
  class var entityName: String { "Node" }
  class var backReferences: [AnyKeyPath] { [\OpenNode.above] }

  /// A member of a set that is equal only to itself.
  final class Below: ValueModel, Hashable {
    var name: String?
    var parent: OpenNode?
    static let entityName = "Node"
    static var backReferences: [AnyKeyPath] { [\Below.parent] }
    static func == (left: Below, right: Below) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }
}
