internal import ArborModel
internal import ArborStore

/// Links that two relationships of the older model have, or one alone, and that the newer model
/// lets both sides see.
extension MigrationSurvey {
  /// The entities of the older model whose objects have links of one relationship of the newer one.
  private struct Side {
    let former: EntitySchema
    let relationship: PropertyWork.Relationship
  }

  /// A link, seen from the side that is looked at.
  private struct Link: Hashable {
    let owner: ObjectNumber
    let member: ObjectNumber
  }

  /// Links whose other end does not have them although it has links of its own, and links of
  /// several objects to one that the relationship back leads to one of only.
  ///
  /// - Complexity: Linear in the links of relationships that begin anew and did not lead back to
  ///   each other before; memory for each of them.
  func contradictions() throws(ArborError) -> [MigrationProblem] {
    var subjects: [ModelDifference.Subject] = []
    var sides: [ModelDifference.Subject: [Side]] = [:]
    for work in PropertyWork.all(models, context.session.schema) {
      for relationship in work.relationships {
        if sides[relationship.subject] == nil { subjects.append(relationship.subject) }
        sides[relationship.subject, default: []].append(
          Side(former: work.former, relationship: relationship))
      }
    }
    var problems: [MigrationProblem] = []
    for own in subjects.compactMap({ sides[$0] }) {
      guard let inverse = own.first?.relationship.inverse else { continue }
      let back = sides[inverse.subject] ?? []
      try noteUnanswered(own, back, &problems)
      if !inverse.isToMany { try noteShared(own, back, inverse.subject, &problems) }
    }
    return problems
  }

  /// Notes links that the other end, which has links of its own, does not have.
  private func noteUnanswered(
    _ own: [Side], _ back: [Side], _ problems: inout [MigrationProblem]
  ) throws(ArborError) {
    let doubtful = own.filter { side in back.contains { !ledBack(from: $0, to: side) } }
    guard !doubtful.isEmpty else { return }
    var known: Set<Link> = []
    for side in back {
      try eachLink(of: side) { known.insert(Link(owner: $1, member: $0)) }
    }
    let answering = Set(back.map(\.former.number))
    for side in doubtful {
      let what =
        "links that the relationship back of \(side.relationship.name) has no counterpart of"
      try note(what, side, &problems) { owner, member in
        answering.contains(member.entity) && !known.contains(Link(owner: owner, member: member))
      }
    }
  }

  /// Notes links to objects that others lead to as well, as far as these have no links of their
  /// own.
  private func noteShared(
    _ own: [Side], _ back: [Side], _ inverse: ModelDifference.Subject,
    _ problems: inout [MigrationProblem]
  ) throws(ArborError) {
    // What led back to one object before has no others.
    if own.count == 1, let side = own.first, former(side).map({ !$0.isToMany }) ?? false { return }
    let answering = Set(back.map(\.former.number))
    var (met, shared): (Set<ObjectNumber>, Set<ObjectNumber>) = ([], [])
    for side in own {
      try eachLink(of: side) { _, member in
        guard !answering.contains(member.entity) else { return }
        if !met.insert(member).inserted { shared.insert(member) }
      }
    }
    guard !shared.isEmpty else { return }
    for side in own {
      let what = "a target that others have as well, although \(inverse) leads to one object"
      try note(what, side, &problems) { _, member in shared.contains(member) }
    }
  }

  /// The relationship back that a side had in the older model, hidden or not.
  private func former(_ side: Side) -> RelationshipSchema? {
    side.former.relationships.first { $0.name == side.relationship.source }
      .map(context.session.schema.inverse)
  }

  /// Whether one side was the relationship back of another in the older model already.
  private func ledBack(from back: Side, to side: Side) -> Bool {
    guard let inverse = former(side), let own = back.former.own(inverse) else { return false }
    return own.name == back.relationship.source
  }

  /// Notes a problem of each object of a side that has a link of a kind.
  private func note(
    _ what: String, _ side: Side, _ problems: inout [MigrationProblem],
    _ isMeant: (_ owner: ObjectNumber, _ member: ObjectNumber) -> Bool
  ) throws(ArborError) {
    var last: ObjectNumber?
    try eachLink(of: side) { owner, member in
      guard owner != last, isMeant(owner, member) else { return }
      last = owner
      problems.note(
        MigrationProblem(
          entity: side.former.name, property: side.relationship.source, what: what),
        owner.sequence)
    }
  }

  /// Calls `body` with both ends of each link that the newer model has room for, those of an object
  /// one after another.
  private func eachLink(
    of side: Side, _ body: (_ owner: ObjectNumber, _ member: ObjectNumber) -> Void
  ) throws(ArborError) {
    try each(side.former.name) { (object) throws(ArborError) in
      for member in try side.relationship.keptMembers(of: object) {
        body(object.number, member.number)
      }
    }
  }
}
