internal import ArborLocks

/// What some members of a conjunction say about objects that a relationship of the rows leads to.
///
/// `company.name == "X" AND company.city != "Y"` is, of the company, `name == "X" AND city != "Y"`:
/// the companies that fulfil it are found first, then the objects that lead to them. It is the same
/// only where the condition is false of nil, since a path through nil gives nil.
///
/// `ANY employees.age > 60` is, of an employee, `age > 60`: the employees are found first, then
/// those whose members they are.
package final class RelatedCondition: Sendable {
  /// The rows' relationship; a to-many one where any of its members has to fulfil the condition.
  package let relationship: RelationshipSchema
  /// The members of the conjunction that the condition stands for.
  package let termIndices: [Int]
  /// The members as they are about the row; nil where they are about a member of a collection.
  private let rowNodes: [BoundNode]?
  private let root: BoundNode
  private let bound = Lock<BoundPredicate?>(nil)

  /// The condition on the object that a to-one relationship leads to.
  private init(_ relationship: RelationshipSchema, termIndices: [Int], rowNodes: [BoundNode]) {
    self.relationship = relationship
    self.termIndices = termIndices
    self.rowNodes = rowNodes
    root = .and(rowNodes.map(\.droppingFirstHop))
  }

  /// The condition on any member of a to-many relationship.
  private init(_ relationship: RelationshipSchema, termIndex: Int, memberNode: BoundNode) {
    self.relationship = relationship
    termIndices = [termIndex]
    rowNodes = nil
    root = memberNode
  }

  /// The conditions of a conjunction: one for each to-one relationship that any of its members
  /// follows, and one for each member that asks for any member of a to-many relationship.
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

  /// The condition as a predicate of the relationship's destination.
  package func predicate(in schema: ModelSchema) -> BoundPredicate {
    bound.withLock { bound in
      if let bound { return bound }
      let made = BoundPredicate(entity: schema.entities[relationship.destination], root: root)
      bound = made
      return made
    }
  }

  /// Whether no object without a related one fulfils the condition.
  func isFalseOfNil(_ arguments: [PropertyValue]) -> Bool {
    guard let rowNodes else { return true }
    let constants = PredicateConstants(arguments: arguments)
    return rowNodes.contains { $0.holdsOfNil(constants) == false }
  }
}
