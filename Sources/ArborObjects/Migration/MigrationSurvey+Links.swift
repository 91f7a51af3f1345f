internal import ArborModel
internal import ArborStore

/// Links of one or two relationships of the older model that become one pair of inverses in the
/// newer model.
extension MigrationSurvey {
  /// An entity of the older model whose objects have links of one relationship of the newer model.
  private struct Side {
    let former: EntitySchema
    let relationship: PropertyWork.Relationship
  }

  /// A link from the perspective of one side.
  private struct Link: Hashable {
    let owner: ObjectNumber
    let member: ObjectNumber
  }

  /// Finds links that are missing from the inverse although the target has its own links, and links
  /// of several objects to one target whose inverse is to-one.
  ///
  /// - Complexity: Linear in time and memory in the number of links of refilled relationships that
  ///   were not inverses of each other before.
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

  /// Records links that are missing from the inverse although the target has its own links.
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
        "links without a counterpart in the inverse of \(side.relationship.name)"
      try note(what, side, &problems) { owner, member in
        answering.contains(member.entity) && !known.contains(Link(owner: owner, member: member))
      }
    }
  }

  /// Records links to objects to which other objects link as well, unless the target has its own
  /// links.
  private func noteShared(
    _ own: [Side], _ back: [Side], _ inverse: ModelDifference.Subject,
    _ problems: inout [MigrationProblem]
  ) throws(ArborError) {
    // If the inverse was to-one before, no target is shared.
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
      let what = "a target that other objects link to as well, although \(inverse) is to-one"
      try note(what, side, &problems) { _, member in shared.contains(member) }
    }
  }

  /// Returns the inverse that a side had in the older model, whether hidden or not.
  private func former(_ side: Side) -> RelationshipSchema? {
    side.former.relationships.first { $0.name == side.relationship.source }
      .map(context.session.schema.inverse)
  }

  /// Returns whether one side was already the inverse of the other in the older model.
  private func ledBack(from back: Side, to side: Side) -> Bool {
    guard let inverse = former(side), let own = back.former.own(inverse) else { return false }
    return own.name == back.relationship.source
  }

  /// Records a problem for each object of a side that has a matching link.
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

  /// Calls `body` with both ends of each link that the newer model allows, grouped by owner.
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
