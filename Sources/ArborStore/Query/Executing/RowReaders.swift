internal import ArborModel

/// Reads expressions from the records of rows of any entity.
final class RowReaders {
  private let expressions: [BoundExpression]
  private let environment: PredicateEnvironment
  private let resolver: SnapshotResolver?
  private var readers: [Int: [Reader]] = [:]
  // Cached for the previous row's entity, because most queries have only one.
  private var last: (entity: EntitySchema, readers: [Reader])?

  /// The reader of an expression. A structure, because closures in arrays are called through
  /// thunks.
  private struct Reader {
    let read: ValueReader
  }

  init(
    _ expressions: [BoundExpression], _ environment: PredicateEnvironment,
    _ resolver: SnapshotResolver?
  ) {
    self.expressions = expressions
    self.environment = environment
    self.resolver = resolver
  }

  /// Whether there is nothing to read.
  var isEmpty: Bool { expressions.isEmpty }

  func values(
    _ number: ObjectNumber, _ record: RecordView, of entity: EntitySchema
  ) throws(ArborError) -> [PropertyValue] {
    try readers(of: entity).map { $0.read(record, number, resolver) }
  }

  /// Compiles the expressions for an entity, so that reading them later cannot fail.
  func prepare(for entity: EntitySchema) throws(ArborError) { _ = try readers(of: entity) }

  private func readers(of entity: EntitySchema) throws(ArborError) -> [Reader] {
    if let last, last.entity === entity { return last.readers }
    var found = readers[entity.index, default: []]
    if found.isEmpty {
      for expression in expressions {
        let read = try PredicateCompiler.reader(
          for: expression, arguments: [], of: entity, environment: environment)
        found.append(Reader(read: read))
      }
      readers[entity.index] = found
    }
    last = (entity, found)
    return found
  }
}
