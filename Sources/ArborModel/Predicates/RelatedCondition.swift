internal import ArborLocks

/// A condition on objects that are related to the rows, which replaces members of a conjunction.
///
/// `company.name == "X" AND company.city != "Y"` is the condition `name == "X" AND city != "Y"` on
/// companies: the matching companies are found first, then the objects that refer to them (a
/// semi-join). The two are equivalent only if the condition is false for `nil`, because a path
/// through `nil` is `nil`.
///
/// `ANY employees.age > 60` is the condition `age > 60` on employees: the matching employees are
/// found first, then their owners.
package final class RelatedCondition: Sendable {
  /// The relationship from the rows to the objects that the condition applies to. If it is to-many,
  /// at least one member must satisfy the condition.
  package let relationship: RelationshipSchema
  /// The indexes of the conjunction's members that the condition replaces.
  package let termIndices: [Int]
  /// The members as conditions on the row, or `nil` if they apply to a member of a collection.
  private let rowNodes: [BoundNode]?
  private let root: BoundNode
  private let bound = Lock<BoundPredicate?>(nil)

  /// Creates the condition on the target of a to-one relationship.
  private init(_ relationship: RelationshipSchema, termIndices: [Int], rowNodes: [BoundNode]) {
    self.relationship = relationship
    self.termIndices = termIndices
    self.rowNodes = rowNodes
    root = .and(rowNodes.map(\.droppingFirstHop))
  }

  /// Creates the condition that at least one member of a to-many relationship must satisfy.
  private init(_ relationship: RelationshipSchema, termIndex: Int, memberNode: BoundNode) {
    self.relationship = relationship
    termIndices = [termIndex]
    rowNodes = nil
    root = memberNode
  }

  /// Returns the conditions of a conjunction: one for each to-one relationship that its members
  /// follow, and one for each member with an ANY quantifier over a to-many relationship.
  static func gather(_ nodes: [BoundNode]) -> [RelatedCondition] {
    var groups: [(relationship: RelationshipSchema, termIndices: [Int])] = []
    var conditions: [RelatedCondition] = []
    for (termIndex, node) in nodes.enumerated() {
      if let (relationship, memberNode) = node.anyMember {
        conditions.append(
          RelatedCondition(relationship, termIndex: termIndex, memberNode: memberNode))
      } else if let hop = node.commonHop {
        if let known = groups.firstIndex(where: { $0.relationship.slot == hop.slot }) {
          groups[known].termIndices.append(termIndex)
        } else {
          groups.append((hop, [termIndex]))
        }
      }
    }
    return groups.map { relationship, termIndices in
      RelatedCondition(
        relationship, termIndices: termIndices, rowNodes: termIndices.map { nodes[$0] })
    } + conditions
  }

  /// Returns the condition as a predicate of the relationship's destination.
  package func predicate(in schema: ModelSchema) -> BoundPredicate {
    bound.withLock { bound in
      if let bound { return bound }
      let made = BoundPredicate(entity: schema.entities[relationship.destination], root: root)
      bound = made
      return made
    }
  }

  /// Returns whether the condition is false for objects without a related object.
  func isFalseOfNil(_ arguments: [PropertyValue]) -> Bool {
    guard let rowNodes else { return true }
    let constants = PredicateConstants(arguments: arguments)
    return rowNodes.contains { $0.holdsOfNil(constants) == false }
  }
}
