internal import ArborModel
internal import LMDB

/// Makes both sides of a relationship consistent.
extension SalvagedLinks {
  /// Adds the links that only one side has to the other side, or removes them.
  func agree() throws(StoreError) {
    let relationships = target.databases.relationships
    for index in relationships.indices where relationships[index].schema.storage == .links {
      let inverse = target.schema.inverse(of: relationships[index].schema)
      if case .links = inverse.storage,
        let other = target.databases.relationshipIndex(
          entity: relationships[index].schema.destination, slot: inverse.slot)
      {
        try agree(index, with: other)
      }
    }
    try takeOverFields()
  }

  // MARK: Two to-many sides

  private func agree(_ index: Int, with other: Int) throws(StoreError) {
    var last: StoredLink?
    repeat {
      try target.limit.checkStoreNow()
      let links = try nextLinks(index, behind: last)
      last = links.last
      let onlyHere = try target.read { (reader) throws(StoreError) in
        var missing: [StoredLink] = []
        for link in links where try !has(other, link.member, link.owner, reader) {
          missing.append(link)
        }
        return missing
      }
      let added = onlyHere.filter { mayLack(other, $0.member) }.map {
        StoredLink(index: other, owner: $0.member, member: $0.owner, position: nil)
      }
      try write(added)
      try remove(onlyHere.filter { !mayLack(other, $0.member) })
    } while last != nil
  }

  /// Returns the next links of a relationship in the order of its database.
  private func nextLinks(_ index: Int, behind last: StoredLink?) throws(StoreError) -> [StoredLink]
  {
    let relationship = target.databases.relationships[index]
    return try target.read { (reader) throws(StoreError) in
      try storing { () throws(LMDBError) in
        var links: [StoredLink] = []
        let cursor = try reader.cursor(relationship.members)
        var entry = try cursor.seek(last?.owner ?? 0)
        while let found = entry, links.count < SalvageTarget.maximumChanges {
          let link = StoredLink(
            index, found.integerKey, found.value, isOrdered: relationship.order != nil)
          let isBehind = last.map { (link.owner, link.member) > ($0.owner, $0.member) } ?? true
          if isBehind { links.append(link) }
          entry = try cursor.next()
        }
        return links
      }
    }
  }

  private func has(
    _ index: Int, _ owner: UInt64, _ member: UInt64, _ reader: TransactionReader
  ) throws(StoreError) -> Bool {
    try storing(
      target.databases.relationships[index].contains(
        ObjectNumber(rawValue: member), of: ObjectNumber(rawValue: owner), reader))
  }

  private func remove(_ links: [StoredLink]) throws(StoreError) {
    guard !links.isEmpty else { return }
    for link in links {
      noteLost(
        ObjectNumber(rawValue: link.owner), target.databases.relationships[link.index].schema,
        ObjectNumber(rawValue: link.member))
    }
    try target.write { (transaction) throws(StoreError) in
      try storing { () throws(LMDBError) in
        for link in links {
          try Self.remove(link, target.databases.relationships[link.index], transaction)
        }
      }
    }
  }

  private static func remove(
    _ link: StoredLink, _ relationship: StoreDatabases.Relationship,
    _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    guard let order = relationship.order, let position = link.position else {
      try transaction.delete(relationship.members, key: link.owner, number: link.member)
      return
    }
    try OrderedMembers.change(relationship.members, order, link.owner, link.member, position) {
      (database, key, value) throws(LMDBError) in
      _ = try transaction.delete(database, key: key, value: value)
    }
  }

  // MARK: Fields

  /// Adds the members that to-one fields require: all members of derived relationships, and those
  /// of ordered ones whose positions are lost, at the end.
  private func takeOverFields() throws(StoreError) {
    for plan in target.entities {
      let references = plan.references.filter { $0.listIndex != nil }
      guard !references.isEmpty else { continue }
      let maintainers = target.databases.relationships.map { RelationshipMaintainer($0) }
      try target.forEachRecord(of: plan) { (number, record) throws(StoreError) in
        for reference in references {
          guard let owner = record.reference(reference.field), let index = reference.listIndex
          else { continue }
          maintainers[index].collect(owner, number, isRemoval: false)
        }
      } batch: { () throws(StoreError) in
        try write(maintainers)
      }
    }
  }

  private func write(_ maintainers: [RelationshipMaintainer]) throws(StoreError) {
    for (index, maintainer) in maintainers.enumerated() where !maintainer.isEmpty {
      if maintainer.relationship.schema.storage == .derived {
        maintainer.sort()
        try target.write { (transaction) throws(StoreError) in
          maintainer.forgetEnd()
          try storing(maintainer.apply(transaction))
        }
      } else {
        var links: [StoredLink] = []
        for changeIndex in 0..<maintainer.run.count {
          let change = maintainer.run[changeIndex]
          links.append(
            StoredLink(index: index, owner: change.high, member: change.low, position: nil))
        }
        try write(links)
      }
      maintainer.removeAll()
    }
  }
}
