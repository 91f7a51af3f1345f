internal import ArborModel

/// Conditions and sort keys in words, for people who read plans.
struct PlanWords {
  let arguments: [Value]

  init(_ query: StoreQuery) { arguments = query.predicate?.arguments ?? [] }

  func all(_ nodes: [BoundNode]) -> String {
    nodes.map { text($0, isNested: nodes.count > 1) }.joined(separator: " AND ")
  }

  func text(_ node: BoundNode, isNested: Bool) -> String {
    BoundText(arguments: arguments, constant: { Self.text($0) }).text(node, isNested: isNested)
  }

  static func text(_ key: BoundSortKey) -> String {
    (key.isAscending ? "" : "-") + text(key.path)
  }

  private static func text(_ path: BoundPath) -> String {
    BoundText(arguments: []).text(path)
  }

  static func text(_ tokens: [TokenQuery.Token]) -> String {
    tokens.map { String(decoding: $0.bytes, as: UTF8.self) + ($0.isPrefix ? "*" : "") }
      .joined(separator: ", ")
  }

  static func text(_ name: String, _ condition: ColumnMatch.Condition) -> String {
    switch condition {
    case .points(let values):
      if values.count == 1 { return "\(name) == \(text(values[0]))" }
      return "\(name) IN \(values.count) values"
    case .prefix(let prefix): return "\(name) BEGINSWITH \(text(.string(prefix)))"
    case .range(let range):
      var parts: [String] = []
      if !range.lower.isNull {
        parts.append("\(name) \(range.isLowerIncluded ? ">=" : ">") \(text(range.lower))")
      }
      if let upper = range.upper {
        parts.append("\(name) \(range.isUpperIncluded ? "<=" : "<") \(text(upper))")
      }
      return parts.isEmpty ? "\(name) != nil" : parts.joined(separator: " AND ")
    }
  }

  private static func text(_ value: Value) -> String {
    switch value {
    case .null: "nil"
    case .boolean(let flag): flag ? "TRUE" : "FALSE"
    case .integer(let number): "\(number)"
    case .double(let number): "\(number)"
    case .decimal(let number): "\(number)"
    case .string(let text): text.count > 40 ? "\"\(text.prefix(40))…\"" : "\"\(text)\""
    case .date(let date): "\(date)"
    case .binary(let data): "\(data.count) bytes"
    case .uuid(let uuid): "\(uuid)"
    case .uri(let url): "\(url)"
    case .objectID(let id): "\(id.entityName) \(id.number)"
    case .list(let values): "\(values.count) values"
    case .composite(let parts): "\(parts.count) parts"
    }
  }
}
