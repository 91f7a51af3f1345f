package import ArborFoundation

extension SortKey {
  /// Resolves the key's path or expression.
  ///
  /// - Throws: ``ArborError`` `unknownName` if a name in a path is unknown, `invalidArgument` if
  ///   the path contains a to-many relationship or the expression doesn't evaluate to a single
  ///   value, `invalidPredicate` if the expression is malformed or cannot be bound, or
  ///   `unsupported` if the order needs ``LocaleServices`` and the program doesn't include them.
  package func bind(
    to entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) -> BoundSortKey {
    if let failure { throw failure.error }
    if options.isCollated {
      _ = try LocaleSupport.services(for: "localized and numeric orders")
    }
    let path: BoundPath
    do throws(ArborError) {
      path = try KeyPathBinder.bind(keyPath, to: entity, in: schema)
    } catch {
      if let computed = try bindExpression(to: entity, in: schema) { return computed }
      throw error
    }
    if case .attribute(let attribute) = path.leaf, let values = attribute.valuesWithoutOrder {
      throw ArborError(
        .invalidArgument, "Objects cannot be sorted by \(keyPath), which holds \(values)."
      ).with(entity: entity.name, keyPath: keyPath)
    }
    return BoundSortKey(path: path, isAscending: isAscending, options: options, locale: locale)
  }
}

extension AttributeSchema {
  /// What the attribute holds if its values have no order, with advice. Otherwise `nil`.
  fileprivate var valuesWithoutOrder: String? {
    switch description.type {
    case .transformable: "archived values. Sort by another attribute"
    case .json: "JSON. Sort by a part of it, or by another attribute"
    default: nil
    }
  }
}

extension BoundSortKey {
  package convenience init(
    path: BoundPath, isAscending: Bool, options: SortKey.Options, locale: Locale? = nil
  ) {
    self.init(
      path: path, text: BoundText(arguments: []).text(path), isAscending: isAscending,
      options: options, locale: locale)
  }
}

extension [SortKey] {
  /// Resolves the paths of an order's keys. The result is cached in the entity.
  ///
  /// - Throws: The errors of ``SortKey/bind(to:in:)``.
  package func bind(
    to entity: EntitySchema, in schema: ModelSchema
  ) throws(ArborError) -> [BoundSortKey] {
    if isEmpty { return [] }
    if let known = entity.orders[self] { return known }
    var bound: [BoundSortKey] = []
    for key in self { bound.append(try key.bind(to: entity, in: schema)) }
    entity.orders.keep(self, bound)
    return bound
  }
}
