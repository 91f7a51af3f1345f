import ArborModel
import ArborObjects

/// Relationships whose objects were named by their keys.
extension ItemRun {
  /// Connects objects with those that their items have named, when all items have been carried out.
  ///
  /// - Returns: What has to wait for later items.
  /// - Throws: ``ArborError`` `objectNotFound` for the first key that no object has, where that is
  ///   an error.
  mutating func connectNamed(
    unknownKey rule: UnknownKeyRule
  ) throws(ArborError) -> [PendingReference] {
    var waiting: [PendingReference] = []
    for pending in references where !pending.object.isDeleted {
      guard let table = pending.relationship.reference?.table else { continue }
      let found = pending.reference.targets.map { keys in
        keys.lazy.compactMap { table.first(for: $0) }.first
      }
      if found.contains(where: { $0 == nil }) {
        switch rule {
        case .isError: throw unknownKey(pending, table)
        case .meansNothing: break
        case .waits:
          waiting.append(pending)
          continue
        }
      }
      if try connect(pending, with: found.compactMap(\.self)) { counts.noteChanged(pending.object) }
    }
    references = []
    return waiting
  }

  private func unknownKey(_ pending: PendingReference, _ table: IdentityTable) -> ArborError {
    let name = pending.relationship.relationship.name
    return ArborError(
      .objectNotFound,
      "There is no \(table.entity.name) of the key that this item names for its \(name); import it "
        + "too, or correct the key."
    ).with(entity: pending.entity, keyPath: name, location: pending.reference.place.location)
  }

  private func connect(
    _ pending: PendingReference, with members: [ManagedObject]
  ) throws(ArborError) -> Bool {
    let relationship = pending.relationship.relationship
    let object = pending.object
    do throws(ArborError) {
      let place = pending.relationship.place
      guard relationship.isToMany else {
        guard object.object(at: place) !== members.first else { return false }
        try object.setObject(members.first, at: place)
        return true
      }
      // Items that name objects do not describe them, so none is deleted to be made again.
      if pending.relationship.policy == .merge {
        return try add(members, to: object, place)
      }
      return try set(members, of: object, pending.relationship)
    } catch {
      throw error.placed(
        pending.entity, relationship.name, at: pending.reference.place.location)
    }
  }
}
