/// Comparison of stored indexes, including uniqueness constraints.
extension ModelComparison {
  /// Records each index that is added, removed or changed, and each unchanged one that must be
  /// rebuilt because its contents change. Uniqueness constraints are recorded separately.
  mutating func compareIndexes(of entity: Int) {
    let name = new.entities[entity].name
    let after = newTree.keptIndexes(of: entity)
    guard let partner = pairing.entities.oldOf[entity] else {
      // A new entity can have subentities with existing objects.
      guard changedFamilies.contains(entity) else { return }
      concern(Subject(name), nil)
      for index in after { noteAddition(of: index) }
      return
    }
    let before = oldTree.keptIndexes(of: partner)
    guard !(before.isEmpty && after.isEmpty && !hasConstraints(partner, entity)) else { return }
    concern(Subject(name), Subject(old.entities[partner].name))
    let translated = before.map { translate($0, from: partner, to: entity) }
    compareConstraints(partner, entity, keptBefore: before, kept: after)
    let former = Self.constraintNames(old.entities[partner])
    let present = Self.constraintNames(new.entities[entity])
    compare(
      zip(before, translated).filter { !($0.0.isUnique && former.contains($0.0.name)) },
      after.filter { !($0.isUnique && present.contains($0.name)) }, of: entity)
  }

  private func hasConstraints(_ before: Int, _ after: Int) -> Bool {
    !old.entities[before].uniquenessConstraints.isEmpty
      || !new.entities[after].uniquenessConstraints.isEmpty
  }

  private static func constraintNames(_ entity: EntityDescription) -> Set<String> {
    Set(entity.uniquenessConstraints.map { $0.joined(separator: "+") })
  }

  private mutating func noteAddition(of index: KeptIndex) {
    note(
      .index(.added(index.declaration)), .indexBuild,
      rule: index.isUnique ? .unique(index.columns.map(\.property)) : nil)
  }

  // MARK: Declared indexes

  private mutating func compare(
    _ before: [(KeptIndex, KeptIndex?)], _ after: [KeptIndex], of entity: Int
  ) {
    var byName: [String: Int] = [:]
    for (position, index) in before.enumerated() {
      byName[index.1?.name ?? index.0.name] = position
    }
    var byContent: [KeptIndex: Int] = [:]
    let names = Set(after.map(\.name))
    for (position, index) in before.enumerated() {
      guard let translated = index.1, !names.contains(translated.name) else { continue }
      byContent[translated.unnamed] = position
    }
    var kept: Set<Int> = []
    for index in after {
      guard let position = byName[index.name] ?? byContent.removeValue(forKey: index.unnamed),
        kept.insert(position).inserted
      else {
        noteAddition(of: index)
        continue
      }
      compare(before[position].0, before[position].1, index, of: entity)
    }
    for (position, index) in before.enumerated() where !kept.contains(position) {
      note(.index(.removed(name: index.0.name)), .catalog)
    }
  }

  private mutating func compare(
    _ before: KeptIndex, _ translated: KeptIndex?, _ after: KeptIndex, of entity: Int
  ) {
    // The index of an indexed attribute or of a constraint is named after its columns, and is
    // renamed with them.
    if let translated, translated.name != after.name {
      note(.index(.renamed(name: after.name, from: before.name)), .catalog)
    }
    guard translated?.unnamed == after.unnamed else {
      var lenient = translated?.unnamed
      lenient?.isUnique = after.isUnique
      // Dropping only the uniqueness leaves the entries unchanged.
      let isRelaxed = lenient == after.unnamed && !after.isUnique
      note(
        .index(.changed(from: before.declaration, to: after.declaration)),
        isRelaxed ? .catalog : .indexBuild,
        rule: after.isUnique ? .unique(after.columns.map(\.property)) : nil)
      return
    }
    noteRefilling(of: after, named: after.name, at: entity)
  }

  private mutating func noteRefilling(of index: KeptIndex, named name: String, at entity: Int) {
    let isRevalued =
      index.columns.contains { column in
        guard case .attribute(let slot)? = newTree.property(named: column.firstName, of: entity)
        else { return false }
        return revalued.contains(slot)
      } || index.condition.map { reads($0, revaluedOf: entity) } ?? false
    guard isRevalued || changedFamilies.contains(entity) else { return }
    // Objects that leave the index cannot create duplicates.
    let mayBreak = index.isUnique && (isRevalued || joinedFamilies.contains(entity))
    note(
      .index(.refilled(name: name)), .indexBuild,
      rule: mayBreak ? .unique(index.columns.map(\.property)) : nil)
  }

  /// Returns whether a condition may read parts of JSON whose types change.
  private func reads(_ condition: String, revaluedOf entity: Int) -> Bool {
    condition.split { !($0.isLetter || $0.isNumber || $0 == "_") }.contains { word in
      guard case .attribute(let slot)? = newTree.property(named: String(word), of: entity) else {
        return false
      }
      return newTree.attribute(slot).type == .json && revalued.contains(slot)
    }
  }

  /// Returns an index of the older model in terms of the newer one, or `nil` if a column was
  /// removed.
  private func translate(_ index: KeptIndex, from before: Int, to after: Int) -> KeptIndex? {
    var columns: [KeptIndex.Column] = []
    for column in index.columns {
      let first = column.firstName
      guard let name = newName(ofProperty: first, from: before, to: after) else { return nil }
      let keys = column.property.dropFirst(first.count)
      columns.append(.init(name + keys, isAscending: column.isAscending, kind: column.kind))
    }
    let isNamedByColumns = index.name == index.columns.map(\.property).joined(separator: "+")
    let name = isNamedByColumns ? columns.map(\.property).joined(separator: "+") : index.name
    return KeptIndex(
      name: name, columns: columns, isUnique: index.isUnique, condition: index.condition)
  }

  /// Returns the current name of an entity's property, or `nil` if the entity no longer has it.
  private func newName(ofProperty name: String, from before: Int, to after: Int) -> String? {
    switch oldTree.property(named: name, of: before) {
    case .attribute(let slot)?:
      pairing.attributes.targets(of: slot, pairing.entities)
        .first { newTree.isKind(after, of: $0.entity) }
        .map { newTree.attribute($0).name }
    case .relationship(let slot)?:
      pairing.relationships.targets(of: slot, pairing.entities)
        .first { newTree.isKind(after, of: $0.entity) }
        .map { newTree.relationship($0).name }
    case nil: nil
    }
  }

  // MARK: Uniqueness constraints

  private mutating func compareConstraints(
    _ before: Int, _ after: Int, keptBefore: [KeptIndex], kept: [KeptIndex]
  ) {
    let former = old.entities[before].uniquenessConstraints
    let present = new.entities[after].uniquenessConstraints
    var byColumns: [Set<String>: [String]] = [:]
    for constraint in former {
      let names = constraint.map { newName(ofProperty: $0, from: before, to: after) }
      let translated = names.compactMap { $0 }
      if translated.count == names.count { byColumns[Set(translated)] = translated }
    }
    let unique = Dictionary(
      kept.lazy.filter(\.isUnique).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for constraint in present {
      let index = unique[constraint.joined(separator: "+")]
      let isKept = index != nil
      guard let translated = byColumns[Set(constraint)] else {
        note(
          .index(.uniquenessAdded(constraint)), isKept ? .indexBuild : .none,
          rule: isKept ? .unique(constraint) : nil)
        continue
      }
      if translated != constraint {
        note(
          .index(.uniquenessReordered(from: translated, to: constraint)),
          isKept ? .indexBuild : .none)
      } else if let index {
        noteRefilling(of: index, named: index.name, at: after)
      }
    }
    let keptBeforeNames = Set(keptBefore.filter(\.isUnique).map(\.name))
    let columns = Set(present.map(Set.init))
    for constraint in former {
      let names = constraint.map { newName(ofProperty: $0, from: before, to: after) }
      guard names.contains(nil) || !columns.contains(Set(names.compactMap { $0 })) else { continue }
      let isKept = keptBeforeNames.contains(constraint.joined(separator: "+"))
      note(.index(.uniquenessRemoved(constraint)), isKept ? .catalog : .none)
    }
  }
}

extension KeptIndex {
  /// The index without its name, for comparing indexes by content.
  fileprivate var unnamed: KeptIndex {
    KeptIndex(name: "", columns: columns, isUnique: isUnique, condition: condition)
  }

  /// The index as an index description.
  fileprivate var declaration: FetchIndexDescription {
    let elements = columns.map { column in
      FetchIndexDescription.Element(
        column.property, isAscending: column.isAscending, kind: column.kind.description)
    }
    return FetchIndexDescription(
      name: name, elements: elements, partialIndexPredicate: condition, isUnique: isUnique)
  }
}
