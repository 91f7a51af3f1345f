import ArborJSON
import ArborModel

/// The layout of a document with several items.
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
/// A name may be a path: dots descend into objects, and into lists by index. A key that is
/// identical to the path takes precedence. A backslash before a dot makes the dot part of a key.
///
/// If a document has another structure, the import throws an error that names the matching layout.
public enum ImportLayout: Sendable, Hashable {
  /// The document is the list.
  case list
  /// The list is a member of the document's object, or of a nested object. Other members are
  /// ignored.
  case member(String)
  /// Every line contains an item (NDJSON).
  case lines
  /// The items are the values of an object: the document's own, or the one at a path in it.
  ///
  /// If `key` is given, each item's key in the object becomes a member of the item with that name,
  /// so that it can be imported as a property. Items must not have such a member themselves.
  case values(of: String? = nil, key: String? = nil)

  var reading: JSONItemReader.Layout {
    switch self {
    case .list: .document
    case .member(let key): .member(JSONMemberPath(key))
    case .lines: .lines
    case .values(let member, _): .values(of: member.map { JSONMemberPath($0) })
    }
  }

  /// The path of the member that contains the items, or `nil` if the document itself does.
  var memberKey: String? {
    switch self {
    case .member(let key), .values(let key?, _): key
    case .list, .lines, .values(nil, _): nil
    }
  }

  /// The name under which items receive their keys, if any.
  var itemKey: String? { if case .values(_, let key) = self { key } else { nil } }
}

/// Reads the items of a document to import. Rejects a document that doesn't have the structure of
/// its layout, because importing no items would look like a success.
struct ImportDocument {
  private var reader: JSONItemReader
  private let layout: ImportLayout
  /// The reason why the layout found no items, if that is not an error.
  private(set) var problem: ArborError?
  /// Whether a document without importable items is allowed rather than an error.
  let mayDoNothing: Bool

  /// Opens a document. A file is read in chunks, any other source at once.
  ///
  /// - Throws: The same errors as ``JSONSource/data()``.
  init(
    _ source: JSONSource, _ options: ImportOptions, _ limit: ExchangeLimit
  ) throws(ArborError) {
    let bytes: JSONByteSource
    let chunkSize: Int
    if case .file(let url) = source.content {
      bytes = try .file(url)
      // Large enough for a batch of typical items.
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
    // The caller knows the type of a value that it passes.
    mayDoNothing = if case .value = source.content { true } else { options.lenient }
  }

  var start: ArborError.SourceLocation { reader.start }
  var size: Int? { reader.size }
  var position: Int { reader.position }

  /// Returns the next items, at most `maximum`, or `nil` after the last one.
  ///
  /// - Throws: ``ArborError`` `invalidDocument` if the document's structure doesn't match the
  ///   layout; otherwise the same errors as ``JSONItemReader/next(_:)``.
  mutating func next(_ maximum: Int) throws(ArborError) -> JSONBatch? {
    let isFirst = reader.isList == nil
    do throws(ArborError) {
      while let batch = try reader.next(maximum) {
        guard reader.isList == true else {
          // Null explicitly contains no items.
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
      // A document that isn't a list is read as a single item.
      guard error.code == .limitExceeded, reader.isList == false, !mayDoNothing else { throw error }
      throw ArborError(
        .invalidDocument,
        "The document is not \(expected). Use the layout that matches it, such as .values() or "
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

  /// A description of the expected structure.
  private var expected: String {
    switch layout {
    case .list: "a list"
    case .member(let key): "a list under “\(key)”"
    case .lines: "lines"
    case .values(let key?, _): "an object under “\(key)”"
    case .values(nil, _): "an object"
    }
  }

  /// Returns the error for a document whose items are not where the layout specifies.
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

  /// Returns a sentence that suggests the layout that matches a document.
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

  /// Returns the path of the first list among an object's members or, failing that, in its nested
  /// objects. Returns `nil` if there is none.
  private static func list(in node: JSONNode, depth: Int = 2) -> String? {
    let members = node.members ?? []
    if let list = members.first(where: { $0.value.kind == .array }) { return list.key }
    guard depth > 0, members.count == 1 else { return nil }
    return list(in: members[0].value, depth: depth - 1).map { "\(members[0].key).\($0)" }
  }

  /// Returns whether another value follows the document's first, as in NDJSON. In that case the
  /// reader has thrown, and will throw the same error again.
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
