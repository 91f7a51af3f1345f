/// How many members of a to-many left side a comparison is about.
package enum ComparisonQualifier: String, Sendable, Hashable, CaseIterable {
  /// At least one; `SOME` is another word for it.
  case any = "ANY"
  /// Every one; true of none.
  case all = "ALL"
  /// Not a single one.
  case none = "NONE"
}

/// One comparison.
package struct PredicateComparison: Sendable, Hashable {
  /// Which members of the left side are meant; nil where it is one value.
  package var qualifier: ComparisonQualifier?
  package var left: ExpressionNode
  package var comparison: ComparisonOperator
  package var options: ComparisonOptions
  package var right: ExpressionNode
  package var site: PredicateSite

  package init(
    _ left: ExpressionNode, _ comparison: ComparisonOperator, _ right: ExpressionNode,
    options: ComparisonOptions = [], qualifier: ComparisonQualifier? = nil,
    site: PredicateSite = .none
  ) {
    self.qualifier = qualifier
    self.left = left
    self.comparison = comparison
    self.options = options
    self.right = right
    self.site = site
  }
}
