internal import ArborLocks
package import Foundation

/// A sort key whose path or expression has been resolved against an entity.
package final class BoundSortKey: Sendable {
  /// What the key reads; nil for one that is computed.
  package let path: BoundPath?
  /// What the key computes; nil for one that reads a path.
  package let expression: BoundExpression?
  package let text: String
  package let isAscending: Bool
  package let options: SortKey.Options
  /// The locale of localized texts; nil for that of the store.
  package let locale: Locale?
  /// The index column that has the key's order; nil where none can have it.
  package let column: IndexSchema.Column?

  /// - Parameters:
  ///   - path: A path to single values.
  ///   - text: The path as it is written.
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

  /// - Parameter expression: One without arguments that gives single values.
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
    column = nil
  }

  /// Whether the key of an object that nobody changes is another one at another time.
  package var isFleeting: Bool {
    expression?.contains { expression, _ in
      switch expression {
      case .call(.now, _), .call(.random, _), .call(.randomn, _): true
      default: false
      }
    } ?? false
  }

  private static func column(
    _ path: BoundPath, _ isAscending: Bool, _ options: SortKey.Options
  ) -> IndexSchema.Column? {
    guard path.hops.isEmpty, options.isDisjoint(with: [.localized, .numeric]) else { return nil }
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
  package var folding: StringFolding {
    var folding: StringFolding = .none
    if contains(.caseInsensitive) { folding.insert(.case) }
    if contains(.diacriticInsensitive) { folding.insert(.diacritics) }
    return folding
  }
}

/// The orders that fetches of one entity ask for, their key paths resolved once.
package final class BoundOrders: Sendable {
  /// How many orders are kept; the oldest goes first.
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
