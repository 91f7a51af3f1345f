internal import ArborModel

extension Session {
  /// Records that an object is about to be merged with its stored state.
  ///
  /// - Parameter records: The known records of the object.
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

  /// Makes both ends of the links in merged records consistent. Not undoable.
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

/// Makes links between existing objects consistent after a merge.
///
/// Merging works record by record, so it may change one end of a link and not the other: if two
/// contexts have assigned different partners to one object, three records are in conflict. The
/// object changed by both determines the result, and objects it no longer points to are unlinked.
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

  /// Makes the target of a relationship point back, or clears the relationship.
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

  /// Returns whether a reference has a pending change.
  private func isChanged(_ object: ManagedObject, _ field: RecordField) -> Bool {
    guard let change = object.change else { return false }
    return change.committed?.reference(field) != object.currentRecord.reference(field)
  }
}

/// An object whose record was merged from the changes of two contexts, so that its targets may not
/// point back to it.
struct LinkMending {
  /// The side that wins if the two ends of a link differ.
  enum Side {
    case session
    case store
    /// The target's present partner wins, because this object was restored.
    case others
  }

  let number: ObjectNumber
  /// The former targets, by relationship slot.
  let former: [(slot: Int, target: ObjectNumber)]
  let side: Side
}
