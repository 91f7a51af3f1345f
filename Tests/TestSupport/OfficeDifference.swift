internal import ArborModel
internal import ArborStore

/// The change set that turns one state of a ``RandomOffice`` into another.
package struct OfficeDifference {
  private let before: RandomOffice
  private let after: RandomOffice

  package init(from before: RandomOffice, to after: RandomOffice) {
    self.before = before
    self.after = after
  }

  package func write(to draft: Draft) throws {
    for (number, object) in after.objects where before.objects[number] == nil {
      try draft.insert(object.entity, object.values, to: object.targets, number: number)
    }
    for (number, object) in after.objects {
      guard let old = before.objects[number], old != object else { continue }
      var targets: [String: ObjectNumber?] = object.targets.mapValues { $0 }
      for name in old.targets.keys where object.targets[name] == nil {
        targets[name] = .some(nil)
      }
      try draft.update(number, object.values, to: targets)
    }
    for number in before.objects.keys where after.objects[number] == nil {
      try draft.delete(number)
    }
    for side in Set(before.links.keys).union(after.links.keys) {
      // The links that a deleted object owns are deleted with it.
      if before.objects[side.owner] != nil, after.objects[side.owner] == nil { continue }
      try edit(side, before.links[side] ?? [], after.links[side] ?? [], draft)
    }
  }

  private func edit(
    _ side: RandomOffice.Side, _ old: [ObjectNumber], _ new: [ObjectNumber], _ draft: Draft
  ) throws {
    guard old != new else { return }
    if side.relationship == "tasks" || side.relationship == "favourites" {
      return try draft.edit(side.owner, side.relationship, .reorder(new))
    }
    for member in old where !new.contains(member) {
      try draft.edit(side.owner, side.relationship, .remove(member))
    }
    for member in new where !old.contains(member) {
      try draft.edit(side.owner, side.relationship, .add(member))
    }
  }
}
