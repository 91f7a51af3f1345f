/// A sort key whose path has been resolved against an entity.
package final class BoundSortKey: Sendable {
  package let path: BoundPath
  package let isAscending: Bool
  package let options: SortKey.Options
  /// The index column that has the key's order; nil where none can have it.
  package let column: IndexSchema.Column?

  package init(path: BoundPath, isAscending: Bool, options: SortKey.Options) {
    self.path = path
    self.isAscending = isAscending
    self.options = options
    column = Self.column(path, isAscending, options)
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
  /// What the options overlook in texts.
  package var folding: StringFolding {
    var folding: StringFolding = []
    if contains(.caseInsensitive) { folding.insert(.case) }
    if contains(.diacriticInsensitive) { folding.insert(.diacritics) }
    return folding
  }
}
