import ArborJSON
import ArborModel

/// Where the items of a document stand that holds several.
///
/// ```
/// [{"code": "AK"}, …]                     .list
/// {"states": [{"code": "AK"}, …], …}      .member("states")
/// {"data": {"items": [{…}, …]}}           .member("data.items")
/// {"AK": {"name": "Alaska"}, …}           .values(key: "code")
/// {"states": {"AK": {…}, …}, …}           .values(of: "states", key: "code")
/// {"code": "AK"}                          .lines, one item on each line (NDJSON)
/// {"code": "AL"}
/// ```
///
/// A name may be a path: dots descend into objects, and into lists by an index. A key that is written
/// like the path wins over it, and a backslash in front of a dot makes the dot a part of a key.
///
/// A document of another shape is an error that says which layout it has.
public enum ImportLayout: Sendable, Hashable {
  /// The document is the list.
  case list
  /// The list is a member of the document's one object, or of an object within it; other members are
  /// left out.
  case member(String)
  /// Every line holds an item (NDJSON).
  case lines
  /// The items are the values of an object: of the document's one, or of the one at a path in it.
  ///
  /// With a name for `key`, each item's own key in the object is a member of the item under that
  /// name, so that a property can be imported from it. No item may have such a member itself.
  case values(of: String? = nil, key: String? = nil)

  var reading: JSONItemReader.Layout {
    switch self {
    case .list: .document
    case .member(let key): .member(JSONMemberPath(key))
    case .lines: .lines
    case .values(let member, _): .values(of: member.map { JSONMemberPath($0) })
    }
  }

  /// The member of the document that holds the items; nil where that is the document.
  var memberKey: String? {
    switch self {
    case .member(let key), .values(let key?, _): key
    case .list, .lines, .values(nil, _): nil
    }
  }

  /// The name under which items have their keys.
  var itemKey: String? { if case .values(_, let key) = self { key } else { nil } }
}
