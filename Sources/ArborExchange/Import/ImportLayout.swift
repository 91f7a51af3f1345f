import ArborModel

/// Where the items of a document stand that holds several.
public enum ImportLayout: Sendable, Hashable {
  /// The document is the list.
  case list
  /// The list is a member of the document's one object; other members are left out.
  case member(String)
  /// Every line holds an item (NDJSON).
  case lines

  var reading: JSONItemReader.Layout {
    switch self {
    case .list: .document
    case .member(let key): .member(key)
    case .lines: .lines
    }
  }
}
