/// A predicate that compares a unique attribute with one value: a point lookup. This is the most
/// common predicate, and is executed without planning.
package final class UniqueEquality: Sendable {
  /// The position of the attribute's unique index among the entity's indexes.
  private let indexNumber: Int
  private let kind: FieldKind
  private let isAscending: Bool
  private let operand: Operand

  private enum Operand: Sendable {
    case constant(PropertyValue)
    case argument(Int)
  }

  /// Creates the equality that a predicate consists of, or returns `nil` for any other predicate.
  init?(_ root: BoundNode, of entity: EntitySchema) {
    guard case .comparison(let comparison) = root, comparison.comparison == .equal,
      comparison.options.isEmpty
    else { return nil }
    let other: BoundExpression
    let path: BoundPath
    switch (comparison.left, comparison.right) {
    case (.path(let left), let right): (path, other) = (left, right)
    case (let left, .path(let right)): (path, other) = (right, left)
    default: return nil
    }
    switch other {
    case .constant(let value): operand = .constant(value)
    case .argument(let index): operand = .argument(index)
    default: return nil
    }
    guard path.hops.isEmpty, case .attribute(let attribute) = path.leaf else { return nil }
    guard
      let index = entity.indexes.firstIndex(where: {
        $0.isUnique && $0.isPlain && $0.columns.count == 1
          && $0.columns[0].source == .attribute(attribute.slot)
      })
    else { return nil }
    indexNumber = index
    kind = attribute.field.kind
    isAscending = entity.indexes[index].columns[0].isAscending
  }

  /// Returns the key to look up, or `nil` if the argument is missing or null.
  package func key(_ arguments: [PropertyValue]) -> UniqueKey? {
    let value: PropertyValue
    switch operand {
    case .constant(let constant): value = constant
    case .argument(let index):
      guard arguments.indices.contains(index) else { return nil }
      value = arguments[index]
    }
    guard !value.isNull else { return nil }
    return UniqueKey(value: value, kind: kind, isAscending: isAscending, indexNumber: indexNumber)
  }
}

/// A value in a unique index.
package struct UniqueKey {
  package let value: PropertyValue
  package let kind: FieldKind
  package let isAscending: Bool
  /// The position of the index among those of the entity.
  package let indexNumber: Int
}
