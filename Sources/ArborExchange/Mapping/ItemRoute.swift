import ArborJSON
import ArborModel

/// The path from an item to one of its values: names of members and indexes in lists.
///
/// ```
/// name            the member
/// user.name       a member of a member
/// tags.0          the first element of a list
/// ```
struct ItemRoute: Hashable, CustomStringConvertible {
  enum Step: Hashable {
    /// A member of an object, or an element of a list where the name is its index.
    case key(String)
    case index(Int)
  }

  let steps: [Step]
  /// The index of the first step among prepared keys; `nil` if the route does not begin with a key.
  private var index: Int?

  init(_ steps: [Step]) { self.steps = steps }

  /// The route as notes of a model write it.
  var description: String {
    steps.map { step in
      switch step {
      case .key(let name): name
      case .index(let index): "\(index)"
      }
    }.joined(separator: ".")
  }

  var firstKey: String? {
    if case .key(let name)? = steps.first { name } else { nil }
  }

  /// The route with its beginning looked up, once for many items.
  func prepared(_ keys: JSONKeyTable) -> ItemRoute {
    var route = self
    route.index = firstKey.flatMap(keys.keyIndex(of:))
    return route
  }

  /// The tape index of the value that the route leads to from an object whose members have
  /// been found; 0 where none exists.
  func node(among members: JSONMembers) -> Int {
    guard let index else { return 0 }
    if steps.count == 1 { return members.node(at: index) }
    return value(among: members)?.tapeIndex ?? 0
  }

  /// The value that the route leads to from an object whose members have been found.
  func value(among members: JSONMembers) -> JSONNode? {
    guard let index, let first = members[index] else { return nil }
    return steps.count == 1 ? first : Self.value(in: first, steps.dropFirst())
  }

  /// The routes that a note of the model contains, those first that win: commas separate alternatives,
  /// and each is a ``JSONMemberPath``.
  static func alternatives(_ note: String) -> [ItemRoute] {
    JSONMemberPath.alternatives(note).flatMap { path in
      (path.wholeKey.map { [ItemRoute([.key($0)])] } ?? [])
        + [ItemRoute(path.names.map(Step.key))]
    }
  }

  private static func value(in node: JSONNode, _ steps: ArraySlice<Step>) -> JSONNode? {
    var node = node
    for step in steps {
      let next =
        switch step {
        case .key(let name): node.child(name)
        case .index(let index): node.element(at: index)
        }
      guard let next else { return nil }
      node = next
    }
    return node
  }
}
