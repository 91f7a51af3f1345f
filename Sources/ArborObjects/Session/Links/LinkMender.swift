internal import ArborModel

extension Session {
  /// Records that an object is about to be merged with the store's.
  ///
  /// - Parameter records: What was known of it.
  func noteMending(
    _ object: ManagedObject, _ records: [RecordView], _ side: LinkMending.Side
  ) {
    var former: [(slot: Int, target: ObjectNumber)] = []
    var isPaired = false
    for relationship in object.binding.entity.relationships where relationship.isPaired {
      guard let field = relationship.field else { continue }
      isPaired = true
      for record in records {
        if let target = record.reference(field) { former.append((relationship.slot, target)) }
      }
    }
    if isPaired {
      mendings.append(LinkMending(number: object.number, former: former, side: side))
    }
  }

  /// Makes both ends of the links agree that merged records say something of; there is nothing in
  /// that to undo.
  func mendLinks() {
    guard !mendings.isEmpty else { return }
    withoutUndo {
      let mender = LinkMender(session: self)
      while !mendings.isEmpty {
        let mendings = self.mendings
        self.mendings = []
        for mending in mendings { mender.mend(mending) }
      }
    }
  }
}

/// Makes links whose ends are both kept agree after a merge.
///
/// Merging goes record by record, and so may take over one end of a link and not the other: where
/// two contexts have given one object two partners, three records say two things. The object that
/// both have changed decides; those that it does not lead to any more let it go.
private struct LinkMender {
  let session: Session
  private var keeper: InverseKeeper { InverseKeeper(session) }

  func mend(_ mending: LinkMending) {
    guard let object = session.registry.object(mending.number), object.change?.kind != .deleted
    else { return }
    for relationship in object.binding.entity.relationships where relationship.isPaired {
      let target = object.target(of: relationship)
      var former = Set(mending.former.filter { $0.slot == relationship.slot }.map(\.target))
      if let field = relationship.field, let stored = object.change?.committed?.reference(field) {
        former.insert(stored)
      }
      for other in former.sorted()
      where other != target && relationship.leads(to: other) && session.exists(other) {
        session.renewUnchanged(other)
        keeper.leave(object.number, at: other, slot: relationship.inverseSlot)
      }
      if let target, session.exists(target) {
        session.renewUnchanged(target)
        guard let partner = session.fault(target) else { continue }
        join(object, relationship, partner, mending.side)
      }
    }
  }

  /// Lets the target of a relationship lead back, or the object lead nowhere.
  private func join(
    _ object: ManagedObject, _ relationship: RelationshipSchema, _ target: ManagedObject,
    _ side: LinkMending.Side
  ) {
    let inverse = target.binding.entity.relationships[relationship.inverseSlot]
    guard let back = inverse.field else { return }
    let partner = target.target(of: inverse)
    guard partner != object.number else { return }
    if let partner { session.renewUnchanged(partner) }
    let isOwn = relationship.field.map { isChanged(object, $0) } ?? false
    let isTargets = isChanged(target, back)
    let stays =
      switch side {
      case .others: partner == nil
      case .session: isOwn || !isTargets
      case .store: !isOwn || isTargets && partner == nil
      }
    if stays, !(isOwn && isTargets) || partner == nil {
      keeper.arrive(object, at: target, slot: relationship.inverseSlot)
    } else {
      keeper.set(object, relationship, to: nil)
    }
  }

  /// Whether what an object leads to waits for a commit.
  private func isChanged(_ object: ManagedObject, _ field: RecordField) -> Bool {
    guard let change = object.change else { return false }
    return change.committed?.reference(field) != object.currentRecord.reference(field)
  }
}

/// An object whose record has been put together from what two contexts made of it, so that what it
/// leads to may not lead back.
struct LinkMending {
  /// Whose word counts where both ends say something else.
  enum Side {
    case session
    case store
    /// That of the object that has another partner by now: the object has come back.
    case others
  }

  let number: ObjectNumber
  /// What it led to before, by the slots of the relationships.
  let former: [(slot: Int, target: ObjectNumber)]
  let side: Side
}
