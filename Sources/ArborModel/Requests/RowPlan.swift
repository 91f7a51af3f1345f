package import Foundation

/// What the rows of a request are made of, names resolved: plain values of each object, or values
/// of groups of objects.
package struct RowPlan: Sendable {
  package let names: [String]
  /// The values of the columns; of grouped rows their leaves are arguments, see ``Grouping``.
  package let columns: [BoundExpression]
  /// nil where every object is a row.
  package let grouping: Grouping?
  /// The order of the rows where it has to be made of their values; empty where it is the order in
  /// which the objects come.
  package let order: [OrderKey]
  package let sortKeys: [BoundSortKey]
  package let isDistinct: Bool
  package let limit: Int
  package let offset: Int

  /// How objects become groups. The values of ``keys``, then those of ``aggregates``, are the
  /// arguments of all that is computed of a group.
  package struct Grouping: Sendable {
    /// What the objects of a group agree in; none where all objects are one group.
    package let keys: [BoundExpression]
    package let aggregates: [GroupAggregate]
    package let having: BoundPredicate?
  }

  /// One value made of the objects of a group.
  package struct GroupAggregate: Sendable {
    package let function: AggregateExpression.Function
    /// nil for the objects themselves, which are counted.
    package let expression: BoundExpression?
    package let isDistinct: Bool
  }

  package struct OrderKey: Sendable {
    package let expression: BoundExpression
    package let isAscending: Bool
    package let options: SortKey.Options
    /// The locale of localized texts; nil for that of the store.
    package let locale: Locale?
  }
}

extension RowPlan {
  /// Resolves a request.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` where a text is no expression or a name in it is
  ///   unknown, `unknownName` for a sort key, `invalidArgument` where names repeat or what is asked
  ///   for is neither grouped by nor aggregated.
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

  /// The order of the objects where paths of the entity make it; else that of rows by what their
  /// columns, or expressions, say.
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

/// A column as it was asked for.
struct RowColumn {
  let name: String
  let expression: ExpressionNode

  var isPath: Bool { expression.plainPath != nil }

  private init(name: String, expression: ExpressionNode) {
    self.name = name
    self.expression = expression
  }

  /// Reads a column. A mere path may begin with a property that is named like a word of the
  /// language, as `size`.
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

  /// The columns of a request; all attributes where it names none.
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
  /// The names of a path without collection operators, joined by dots; nil for all else.
  var plainPath: String? {
    guard case .path(let path) = self, !path.parts.isEmpty else { return nil }
    for part in path.parts {
      guard case .name = part else { return nil }
    }
    return path.names.joined(separator: ".")
  }
}
