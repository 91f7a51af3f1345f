internal import ArborModel

/// Formats conditions and sort keys for readable plans.
struct PlanWords {
  let arguments: [PropertyValue]
  /// Whether values of conditions are shown. They may be private.
  let showsValues: Bool

  init(_ query: StoreQuery, showsValues: Bool = true) {
    arguments = query.predicate?.arguments ?? []
    self.showsValues = showsValues
  }

  /// Returns a query in words: entity, condition, order and limit.
  func text(_ query: StoreQuery) -> String {
    var text = query.entity.name
    if let predicate = query.predicate { text += " where " + all([predicate.bound.root]) }
    if !query.sortKeys.isEmpty {
      text += " by " + query.sortKeys.map { self.text($0) }.joined(separator: ", ")
    }
    if let group = query.groupLimit { text += " limit " + self.text(group) }
    if query.limit > 0 || query.offset > 0 { text += " limit " + Self.limit(of: query) }
    return text
  }

  func text(_ limit: BoundGroupLimit) -> String {
    let order = limit.sortKeys.map { text($0) }.joined(separator: ", ")
    return "\(limit.count) per \(text(limit.key))" + (order.isEmpty ? "" : " by \(order)")
  }

  static func limit(of query: StoreQuery) -> String {
    let limit = query.limit > 0 ? ["\(query.limit)"] : []
    let offset = query.offset > 0 ? ["offset \(query.offset)"] : []
    return (limit + offset).joined(separator: " ")
  }

  func all(_ nodes: [BoundNode]) -> String {
    nodes.map { text($0, isNested: nodes.count > 1) }.joined(separator: " AND ")
  }

  private func text(_ node: BoundNode, isNested: Bool) -> String {
    BoundText(arguments: arguments, constant: { text($0) }).text(node, isNested: isNested)
  }

  func text(_ key: BoundSortKey) -> String {
    let sign = key.isAscending ? "" : "-"
    guard let expression = key.expression else { return sign + key.text }
    return sign + BoundText(arguments: arguments, constant: { text($0) }).text(expression)
  }

  func text(_ tokens: [TokenQuery.Token]) -> String {
    guard showsValues else { return "\(tokens.count) \(tokens.count == 1 ? "word" : "words")" }
    return tokens.map { String(decoding: $0.bytes, as: UTF8.self) + ($0.isPrefix ? "*" : "") }
      .joined(separator: ", ")
  }

  func text(_ name: String, _ condition: ColumnMatch.Condition) -> String {
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

  private func text(_ value: PropertyValue) -> String {
    guard showsValues else { return value.isNull ? "nil" : "?" }
    return switch value {
    case .null: "nil"
    case .boolean(let flag): flag ? "TRUE" : "FALSE"
    case .integer(let number): "\(number)"
    case .double(let number): "\(number)"
    case .decimal(let number): "\(number)"
    case .string(let text): text.count > 40 ? "\"\(text.prefix(40))…\"" : "\"\(text)\""
    case .date(let date): "\(date)"
    case .binary: value.description
    case .uuid(let uuid): "\(uuid)"
    case .uri(let url): "\(url)"
    case .objectID(let id): "\(id.entityName) \(id.number)"
    case .list(let values): values.count == 1 ? "1 value" : "\(values.count) values"
    case .composite(let parts): parts.count == 1 ? "1 part" : "\(parts.count) parts"
    }
  }
}
