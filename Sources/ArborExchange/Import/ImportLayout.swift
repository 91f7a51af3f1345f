import ArborJSON
import ArborModel

/// Where the items of a document stand that holds several.
///
/// ```
/// [{"code": "AK"}, …]                     .list
/// {"states": [{"code": "AK"}, …], …}      .member("states")
/// {"AK": {"name": "Alaska"}, …}           .values(key: "code")
/// {"states": {"AK": {…}, …}, …}           .values(of: "states", key: "code")
/// {"code": "AK"}                          .lines, one item on each line (NDJSON)
/// {"code": "AL"}
/// ```
///
/// A document of another shape is an error that says which layout it has.
public enum ImportLayout: Sendable, Hashable {
  /// The document is the list.
  case list
  /// The list is a member of the document's one object; other members are left out.
  case member(String)
  /// Every line holds an item (NDJSON).
  case lines
  /// The items are the values of an object: of the document's one, or of that under a key of it.
  ///
  /// With a name for `key`, each item's own key in the object is a member of the item under that
  /// name, so that a property can be imported from it. No item may have such a member itself.
  case values(of: String? = nil, key: String? = nil)

  var reading: JSONItemReader.Layout {
    switch self {
    case .list: .document
    case .member(let key): .member(key)
    case .lines: .lines
    case .values(let member, _): .values(of: member)
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
