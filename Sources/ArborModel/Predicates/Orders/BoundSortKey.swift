package import ArborFoundation
internal import ArborLocks

/// A sort key with its path or expression resolved for an entity.
package final class BoundSortKey: Sendable {
  /// The path to read, or `nil` for a computed key.
  package let path: BoundPath?
  /// The expression to compute, or `nil` for a key that reads a path.
  package let expression: BoundExpression?
  package let text: String
  package let isAscending: Bool
  package let options: SortKey.Options
  /// The locale for comparing strings, or `nil` for that of the store.
  package let locale: Locale?
  /// The index column that provides the key's order, or `nil` if no index can.
  package let column: IndexSchema.Column?

  /// - Parameters:
  ///   - path: A path to single values.
  ///   - text: The path as it was written.
  init(
    path: BoundPath, text: String, isAscending: Bool, options: SortKey.Options, locale: Locale?
  ) {
    self.path = path
    expression = nil
    self.text = text
    self.isAscending = isAscending
    self.options = options
    self.locale = locale
    column = Self.column(path, isAscending, options)
  }

  /// Creates a computed key.
  ///
  /// - Parameter expression: An expression without arguments that evaluates to a single value.
  init(
    computing expression: BoundExpression, text: String, isAscending: Bool,
    options: SortKey.Options, locale: Locale?
  ) {
    path = nil
    self.expression = expression
    self.text = text
    self.isAscending = isAscending
    self.options = options
    self.locale = locale
    column = Self.column(expression, isAscending, options)
  }

  /// Whether the key's value can change although the object doesn't.
  package var isFleeting: Bool {
    expression?.contains { expression, _ in
      switch expression {
      case .call(.now, _), .call(.random, _), .call(.randomn, _): true
      default: false
      }
    } ?? false
  }

  private static func column(
    _ expression: BoundExpression, _ isAscending: Bool, _ options: SortKey.Options
  ) -> IndexSchema.Column? {
    guard case .decoded(let path, let part) = expression, path.scope == 0, path.hops.isEmpty,
      !options.isCollated, case .attribute(let attribute) = path.leaf, let kind = part.fieldKind,
      options.isEmpty || kind == .string
    else { return nil }
    return .init(
      source: .part(attribute.slot, part), isAscending: isAscending,
      kind: options.isEmpty ? .plain : .folded(options.folding))
  }

  private static func column(
    _ path: BoundPath, _ isAscending: Bool, _ options: SortKey.Options
  ) -> IndexSchema.Column? {
    guard path.hops.isEmpty, !options.isCollated else { return nil }
    let kind = options.isEmpty ? IndexSchema.Column.Kind.plain : .folded(options.folding)
    switch path.leaf {
    case .attribute(let attribute):
      return .init(source: .attribute(attribute.slot), isAscending: isAscending, kind: kind)
    case .toOne(let relationship):
      return .init(source: .toOne(relationship.slot), isAscending: isAscending, kind: kind)
    default: return nil
    }
  }
}

extension SortKey.Options {
  /// Whether strings are compared by collation rules rather than by (folded) code points.
  package var isCollated: Bool { !isDisjoint(with: [.localized, .numeric]) }

  package var folding: StringFolding {
    var folding: StringFolding = .none
    if contains(.caseInsensitive) { folding.insert(.case) }
    if contains(.diacriticInsensitive) { folding.insert(.diacritics) }
    return folding
  }
}

/// A cache of an entity's sort orders, with their key paths resolved.
package final class BoundOrders: Sendable {
  /// The maximum number of cached orders. The oldest is evicted first.
  private static let capacity = 16

  private let known = Lock<[(keys: [SortKey], bound: [BoundSortKey])]>([])

  package init() {}

  subscript(keys: [SortKey]) -> [BoundSortKey]? {
    known.withLock { known in known.first { $0.keys == keys }?.bound }
  }

  func keep(_ keys: [SortKey], _ bound: [BoundSortKey]) {
    known.withLock { known in
      if known.count >= Self.capacity { known.removeFirst() }
      known.append((keys, bound))
    }
  }
}
