import ArborJSON
import ArborModel

/// The way from an item to one of its values: names of members and indices in lists.
///
/// ```
/// name            the member
/// user.name       a member of a member
/// tags · 0        the first element of a list
/// ```
struct ItemRoute: Hashable, CustomStringConvertible {
  enum Step: Hashable {
    case key(String)
    case index(Int)
  }

  let steps: [Step]
  /// The index of the first step among prepared keys; nil where the route does not begin so.
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

  /// Looks the route's beginning up once, for many items.
  mutating func prepare(_ keys: JSONKeyTable) { index = firstKey.flatMap(keys.keyIndex(of:)) }

  /// The index among prepared keys of a route that is one key; nil of any other.
  var plainKey: Int? { steps.count == 1 ? index : nil }

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

  /// The routes that a note of the model gives: dots descend into objects, commas separate
  /// alternatives, and spaces around either are trimmed.
  static func alternatives(_ note: String) -> [ItemRoute] {
    note.split(separator: ",").compactMap { alternative in
      let names = alternative.split(separator: ".").map(\.trimmingSpace)
      guard !names.isEmpty, names.allSatisfy({ !$0.isEmpty }) else { return nil }
      return ItemRoute(names.map { .key(String($0)) })
    }
  }

  private static func value(in node: JSONNode, _ steps: ArraySlice<Step>) -> JSONNode? {
    var node = node
    for step in steps {
      let next =
        switch step {
        case .key(let name): node.member(name)
        case .index(let index): node.element(at: index)
        }
      guard let next else { return nil }
      node = next
    }
    return node
  }
}

extension JSONNode {
  /// An element of a list; nil beyond its ends or where this is no list. Linear in the index.
  func element(at index: Int) -> JSONNode? {
    guard index >= 0, index < count, kind == .array else { return nil }
    return items.dropFirst(index).first
  }
}
