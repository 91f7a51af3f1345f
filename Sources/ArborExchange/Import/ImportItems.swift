import ArborJSON
import ArborModel

/// The layout of a document that holds several items.
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

  /// The member of the document that holds the items; `nil` if that is the document.
  var memberKey: String? {
    switch self {
    case .member(let key), .values(let key?, _): key
    case .list, .lines, .values(nil, _): nil
    }
  }

  /// The name under which items have their keys.
  var itemKey: String? { if case .values(_, let key) = self { key } else { nil } }
}

/// Reads the items of an import's document, and refuses a document of another shape than its
/// layout: it holds no items, and an import of nothing would look like a success.
struct ImportItems {
  private var reader: JSONItemReader
  private let layout: ImportLayout
  /// Why a document whose items are not where the layout has them has imported nothing, though that
  /// is not an error.
  private(set) var problem: ArborError?
  /// Whether a document that the import can do nothing with imports nothing; else it is an error.
  let mayDoNothing: Bool

  /// Begins with a document, of which a file is read piece by piece and any other in one piece.
  ///
  /// - Throws: ``ArborError`` as ``JSONSource/data()``.
  init(
    _ source: JSONSource, _ options: ImportOptions, _ limit: ExchangeLimit
  ) throws(ArborError) {
    let bytes: JSONByteSource
    let chunkSize: Int
    if case .file(let url) = source.content {
      bytes = try .file(url)
      // Large enough for a batch of common items.
      chunkSize = 4 << 20
    } else {
      let data = try source.data()
      bytes = .data(data)
      chunkSize = max(data.count, 1)
    }
    layout = options.layout
    reader = JSONItemReader(
      bytes, named: source.name, layout: layout.reading, limits: options.limits,
      chunkSize: chunkSize, work: limit.work)
    // A value of the program is known to be a list or not.
    mayDoNothing = if case .value = source.content { true } else { options.lenient }
  }

  var start: ArborError.SourceLocation { reader.start }
  var size: Int? { reader.size }
  var position: Int { reader.position }

  /// The next items, at most as many as asked for; `nil` after the last.
  ///
  /// - Throws: ``ArborError`` `invalidDocument` where the document has another shape than its
  ///   layout; as ``JSONItemReader/next(_:)``.
  mutating func next(_ maximum: Int) throws(ArborError) -> JSONBatch? {
    let isFirst = reader.isList == nil
    do throws(ArborError) {
      while let batch = try reader.next(maximum) {
        guard reader.isList == true else {
          // Null is nothing, and says so.
          if batch.items.first?.isNull != false { continue }
          guard mayDoNothing else { throw shapeError(batch) }
          if problem == nil { problem = shapeError(batch) }
          continue
        }
        if isFirst, case .lines = layout, let line = batch.items.first, line.kind == .array {
          throw error(line, "The first line of the document is a list", use: "the layout .list")
        }
        return batch
      }
    } catch {
      // All of a document that is no list is one item.
      guard error.code == .limitExceeded, reader.isList == false, !mayDoNothing else { throw error }
      throw ArborError(
        .invalidDocument,
        "The document is not \(expected). Use the layout that it has, such as .values() or "
          + ".member(_:)."
      )
      .with(location: reader.start, underlying: error)
    }
    if reader.isList == nil, let missing = missingMember() {
      guard mayDoNothing else { throw missing }
      problem = missing
    }
    return nil
  }

  /// What the items are read from, in words.
  private var expected: String {
    switch layout {
    case .list: "a list"
    case .member(let key): "a list under “\(key)”"
    case .lines: "lines"
    case .values(let key?, _): "an object under “\(key)”"
    case .values(nil, _): "an object"
    }
  }

  /// The error for a document whose items are not where the layout has them.
  private mutating func shapeError(_ batch: JSONBatch) -> ArborError {
    guard let node = batch.items.first else { return ArborError(.invalidDocument, "") }
    var found = "The document is \(node.kind)"
    if let key = layout.memberKey {
      found = "The member “\(key)” is \(node.kind)"
    } else if layout == .list, holdsMore() {
      found = "The document consists of several values"
    }
    return error(node, found, use: advice(for: node))
  }

  private func error(_ node: JSONNode, _ found: String, use advice: String) -> ArborError {
    node.error("\(found), but its items are read from \(expected). Use \(advice).")
  }

  /// The layout of a document.
  private mutating func advice(for node: JSONNode) -> String {
    let member = layout.memberKey
    if node.kind == .array {
      return member.map { "the layout .member(\"\($0)\")" } ?? "the layout .list"
    }
    guard let members = node.members, !members.isEmpty else { return "a list of objects" }
    if member == nil, holdsMore() { return "the layout .lines" }
    if member == nil, let list = Self.list(in: node) { return "the layout .member(\"\(list)\")" }
    guard members.allSatisfy({ $0.value.kind == .object }) else {
      return "importObject for a single item, or put it in a list"
    }
    if let member { return "the layout .values(of: \"\(member)\")" }
    if members.count == 1, let inner = members[0].value.members, !inner.isEmpty,
      inner.allSatisfy({ $0.value.kind == .object })
    {
      return "the layout .values(of: \"\(members[0].key)\")"
    }
    return "the layout .values()"
  }

  /// The path of the first list among an object's members, else among those of its objects.
  private static func list(in node: JSONNode, depth: Int = 2) -> String? {
    let members = node.members ?? []
    if let list = members.first(where: { $0.value.kind == .array }) { return list.key }
    guard depth > 0, members.count == 1 else { return nil }
    return list(in: members[0].value, depth: depth - 1).map { "\(members[0].key).\($0)" }
  }

  /// Whether something follows the document's value, as in a document of lines. The reader has
  /// then thrown, and throws the same again.
  private mutating func holdsMore() -> Bool {
    do { _ = try reader.next(1) } catch { return reader.holdsMore }
    return false
  }

  private func missingMember() -> ArborError? {
    layout.memberKey.map { key in
      let (name, keys) = reader.missingMember ?? (key, [])
      return ArborError(
        .invalidDocument,
        "The document has no member “\(key)” with its items. Correct the layout."
          + NearestName.hint(name, in: keys.subtracting([name]).sorted())
      ).with(location: reader.start)
    }
  }
}
