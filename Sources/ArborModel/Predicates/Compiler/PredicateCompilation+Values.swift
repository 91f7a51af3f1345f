internal import Foundation

/// Comparisons of anything with anything, through values: the general way, which costs some hundred
/// nanoseconds where the typed one costs a few.
extension PredicateCompilation {
  typealias ValueReader = (RecordView, ObjectNumber, (any RecordResolver)?) -> Value

  func compileValues(_ comparison: BoundComparison) throws(ArborError) -> CompiledNode {
    let left = reader(comparison.left)
    let right = reader(comparison.right)
    let semantics = ComparisonSemantics(comparison.comparison, comparison.options)
    return .code(cost: 40) { record, number, resolver in
      // A text of a record that is no regular expression matches nothing.
      (try? semantics.holds(left(record, number, resolver), right(record, number, resolver)))
        ?? false
    }
  }

  private func reader(_ expression: BoundExpression) -> ValueReader {
    if let value = constant(expression) { return { _, _, _ in value } }
    switch expression {
    case .path(let path): return Self.reader(path, in: entity, environment)
    case .list(let elements):
      let readers = elements.map(reader)
      return { record, number, resolver in .list(readers.map { $0(record, number, resolver) }) }
    case .constant, .argument: return { _, _, _ in .null }
    }
  }

  /// Reads what a path leads to from records of a concrete entity.
  static func reader(
    _ path: BoundPath, in entity: EntitySchema, _ environment: PredicateEnvironment
  ) -> ValueReader {
    if path.hops.isEmpty { return leafReader(path.leaf, in: entity, environment) }
    return { record, number, resolver in
      var (record, number, entity) = (record, number, entity)
      for hop in path.hops {
        guard case .field(let index) = entity.relationships[hop.slot].storage,
          let target = record.reference(entity.layout.fields[index]),
          let next = resolver?.record(of: target),
          let nextEntity = environment.schema.entity(of: target)
        else { return .null }
        (record, number, entity) = (next, target, nextEntity)
      }
      return leafReader(path.leaf, in: entity, environment)(record, number, resolver)
    }
  }

  private static func leafReader(
    _ leaf: BoundPath.Leaf, in entity: EntitySchema, _ environment: PredicateEnvironment
  ) -> ValueReader {
    switch leaf {
    case .attribute(let attribute):
      let field = entity.attributes[attribute.slot].field
      return { record, _, _ in record.value(field) }
    case .object:
      return { _, number, _ in environment.value(of: number) }
    case .entityName:
      return { _, number, _ in
        environment.schema.entity(of: number).map { .string($0.name) } ?? .null
      }
    case .toOne(let relationship):
      guard case .field(let index) = entity.relationships[relationship.slot].storage else {
        return { _, _, _ in .null }
      }
      let field = entity.layout.fields[index]
      return { record, _, _ in record.reference(field).map(environment.value(of:)) ?? .null }
    }
  }
}

extension PredicateEnvironment {
  /// An object as a value.
  fileprivate func value(of number: ObjectNumber) -> Value {
    guard let entity = schema.entity(of: number) else { return .null }
    return .objectID(
      ObjectID(storeID: storeID, entityName: entity.name, number: number.sequence))
  }
}
