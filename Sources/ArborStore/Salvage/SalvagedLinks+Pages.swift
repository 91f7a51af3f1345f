internal import ArborModel
internal import LMDB

/// Recovers links from pages of the state that no tree refers to.
extension SalvagedLinks {
  /// Copies the links of undamaged pages. A page doesn't identify its relationship, so a link
  /// counts only if exactly one relationship connects the entities of its owner and member.
  func copyFromPages() throws(LMDBError) {
    try source.file.scan { (_, use, leaf) throws(LMDBError) in
      guard use == .current, leaf.isSound else { return }
      try leaf.forEach { (entry) throws(LMDBError) in
        guard entry.key.count == 8 else { return }
        let owner = entry.key.loadUnaligned(as: UInt64.self)
        guard let entity = self.target.schema.entity(of: ObjectNumber(rawValue: owner)),
          entity.relationships.contains(where: { $0.storage == .links })
        else { return }
        _ = try self.source.file.forEachValue(
          of: entry, StoreFormat.relationshipFlags, size: NumberForm.wide.size
        ) { (value) throws(LMDBError) in
          try self.take(owner, NumberForm.wide.number(value), position: nil)
        }
        _ = try self.source.file.forEachValue(
          of: entry, StoreFormat.relationshipFlags, size: OrderedMembers.valueSize
        ) { (value) throws(LMDBError) in
          let (first, second) = OrderedMembers.pair(value)
          try self.take(owner, first, position: second)
          try self.take(owner, second, position: first)
        }
      }
    }
  }

  /// - Parameter position: The position of the member, or `nil` for an unordered relationship.
  private func take(_ owner: UInt64, _ member: UInt64, position: UInt64?) throws(LMDBError) {
    guard let index = relationship(of: owner, member, isOrdered: position != nil),
      mayLack(index, owner)
    else {
      return
    }
    try append(
      StoredLink(index: index, owner: owner, member: member, position: position ?? 0))
  }

  /// Returns the index of the only relationship that connects an owner with a member. Returns `nil`
  /// if there are several, if it is not stored as links, or if the member is not an object's
  /// number.
  private func relationship(of owner: UInt64, _ member: UInt64, isOrdered: Bool) -> Int? {
    let (owner, member) = (ObjectNumber(rawValue: owner), ObjectNumber(rawValue: member))
    guard member.sequence > 0, target.schema.entity(of: member) != nil else { return nil }
    var found: Int?
    for (index, relationship) in target.databases.relationships.enumerated()
    where relationship.schema.isOrdered == isOrdered {
      let schema = relationship.schema
      guard target.schema.leads(schema, to: member),
        target.schema.leads(target.schema.inverse(of: schema), to: owner)
      else { continue }
      if found != nil { return nil }
      found = index
    }
    return found.flatMap { target.databases.relationships[$0].schema.storage == .links ? $0 : nil }
  }
}
