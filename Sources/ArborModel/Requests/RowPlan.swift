package import ArborFoundation

/// The columns and grouping of a request for rows, with names resolved. The columns are values of
/// each object, or values of groups of objects.
package struct RowPlan: Sendable {
  package let names: [String]
  /// The expressions of the columns. For grouped rows, their leaves are arguments; see
  /// ``Grouping``.
  package let columns: [BoundExpression]
  /// The grouping, or `nil` if every object is a row.
  package let grouping: Grouping?
  /// The order by which the rows must be sorted, or empty if they are already in the order of the
  /// objects.
  package let order: [OrderKey]
  package let sortKeys: [BoundSortKey]
  package let isDistinct: Bool
  package let limit: Int
  package let offset: Int

  /// The grouping of objects. The values of ``keys``, followed by those of ``aggregates``, are the
  /// arguments of all expressions about a group.
  package struct Grouping: Sendable {
    /// The grouping keys, or empty if all objects are one group.
    package let keys: [BoundExpression]
    package let aggregates: [GroupAggregate]
    package let having: BoundPredicate?
  }

  /// An aggregate of the objects of a group.
  package struct GroupAggregate: Sendable {
    package let function: AggregateExpression.Function
    /// The expression to aggregate, or `nil` for the objects themselves, which are counted.
    package let expression: BoundExpression?
    package let isDistinct: Bool
  }

  package struct OrderKey: Sendable {
    package let expression: BoundExpression
    package let isAscending: Bool
    package let options: SortKey.Options
    /// The locale for comparing strings, or `nil` for that of the store.
    package let locale: Locale?
  }
}

extension RowPlan {
  /// Resolves a request.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if a text is malformed or contains an unknown
  ///   name, `unknownName` for an unknown sort key, or `invalidArgument` if names are repeated or a
  ///   column is neither a grouping key nor an aggregate.
  package init(
    _ description: FetchDescription, of entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) {
    let columns = try RowColumn.columns(of: description, entity)
    names = columns.map(\.name)
    isDistinct = description.returnsDistinctResults
    limit = max(0, description.fetchLimit)
    offset = max(0, description.fetchOffset)
    var keys: [ExpressionNode] = []
    for path in description.propertiesToGroupBy {
      keys.append(try RowColumn(path.text(), of: entity).expression)
    }
    let isGrouped =
      !keys.isEmpty || description.havingPredicate != nil
      || columns.contains { $0.expression.mayAggregate(in: entity, schema) }
    if isGrouped {
      var binder = GroupBinder(keys: keys, columns: columns, entity: entity, schema: schema)
      var bound: [BoundExpression] = []
      for column in columns { bound.append(try binder.bind(column.expression)) }
      let having = try description.havingPredicate.map { (predicate) throws(ArborError) in
        try binder.bind(predicate)
      }
      self.columns = bound
      order = try Self.order(ofGroups: description.sortKeys, &binder)
      sortKeys = []
      grouping = Grouping(keys: try binder.boundKeys, aggregates: binder.aggregates, having: having)
    } else {
      var bound: [BoundExpression] = []
      for column in columns {
        bound.append(try PredicateBinder.bind(column.expression, to: entity, in: schema).expression)
      }
      self.columns = bound
      grouping = nil
      (sortKeys, order) = try Self.order(description.sortKeys, columns, of: entity, in: schema)
    }
  }

  private static func order(
    ofGroups keys: [SortKey], _ binder: inout GroupBinder
  ) throws(ArborError) -> [OrderKey] {
    try keys.map { (key) throws(ArborError) in
      OrderKey(
        expression: try binder.bind(sortKey: key.keyPath), isAscending: key.isAscending,
        options: key.options, locale: key.locale)
    }
  }

  /// Returns the order of the objects if the sort keys are paths of the entity, otherwise the order
  /// of rows by columns or expressions.
  private static func order(
    _ keys: [SortKey], _ columns: [RowColumn], of entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) -> (sortKeys: [BoundSortKey], order: [OrderKey]) {
    var (sortKeys, order): ([BoundSortKey], [OrderKey]) = ([], [])
    for key in keys {
      let column = columns.first { $0.name == key.keyPath }
      if column == nil || column?.isPath == true {
        var key = key
        if let path = column?.expression.plainPath { key.keyPath = path }
        if let bound = try? key.bind(to: entity, in: schema), bound.path != nil {
          sortKeys.append(bound)
        }
      }
      let expression: ExpressionNode
      if let column {
        expression = column.expression
      } else {
        expression = try RowColumn(key.keyPath, of: entity).expression
      }
      order.append(
        OrderKey(
          expression: try PredicateBinder.bind(expression, to: entity, in: schema).expression,
          isAscending: key.isAscending, options: key.options, locale: key.locale))
    }
    return sortKeys.count == keys.count ? (sortKeys, []) : ([], order)
  }
}

/// A column as requested.
struct RowColumn {
  let name: String
  let expression: ExpressionNode

  var isPath: Bool { expression.plainPath != nil }

  private init(name: String, expression: ExpressionNode) {
    self.name = name
    self.expression = expression
  }

  /// Parses a column. A plain path can start with a property whose name is a reserved word, such as
  /// `size`.
  init(_ text: String, of entity: EntitySchema) throws(ArborError) {
    let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if PredicateKeyword(spelledBy: names[0]) != nil, entity.property(named: names[0]) != nil,
      text.utf8.allSatisfy(\.isOfPlainPath), !names.contains("")
    {
      self.init(name: text, expression: .path(KeyPathNode(names: names)))
    } else {
      let (expression, name) = try PredicateParser.column(text)
      self.init(name: name ?? expression.plainPath ?? text, expression: expression)
    }
  }

  /// Returns the columns of a request, or all attributes if it doesn't specify any.
  static func columns(
    of description: FetchDescription, _ entity: EntitySchema
  ) throws(ArborError) -> [RowColumn] {
    guard !description.propertiesToFetch.isEmpty || !description.propertiesToGroupBy.isEmpty else {
      return entity.attributes.filter { !$0.field.isTransient }.map {
        RowColumn(name: $0.name, expression: .path(KeyPathNode(names: [$0.name])))
      }
    }
    var columns: [RowColumn] = []
    let paths =
      description.propertiesToFetch.isEmpty
      ? description.propertiesToGroupBy : description.propertiesToFetch
    for path in paths {
      let column = try RowColumn(path.text(), of: entity)
      let name = column.name
      guard !columns.contains(where: { $0.name == name }) else {
        throw ArborError(
          .invalidArgument,
          "Two properties to fetch are named \(name). Rename one of them with AS."
        ).with(entity: entity.name, keyPath: name)
      }
      columns.append(column)
    }
    return columns
  }
}

extension ExpressionNode {
  /// The dot-separated names of a path without collection operators, or `nil` for any other
  /// expression.
  var plainPath: String? {
    guard case .path(let path) = self, !path.parts.isEmpty else { return nil }
    for part in path.parts {
      guard case .name = part else { return nil }
    }
    return path.names.joined(separator: ".")
  }
}
