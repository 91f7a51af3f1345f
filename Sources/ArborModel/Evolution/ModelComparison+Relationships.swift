extension ModelComparison {
  typealias RelationshipChange = ModelDifference.RelationshipChange

  func source(ofRelationship slot: PropertySlot) -> Subject {
    Subject(old.entities[slot.entity].name, oldTree.relationship(slot).name)
  }

  private mutating func note(
    _ change: RelationshipChange, _ effort: Effort, loss: ModelDifference.Loss.Kind? = nil,
    rule: Rule? = nil
  ) {
    note(.relationship(change), effort, loss: loss, rule: rule)
  }

  mutating func compareRelationships(of entity: Int) {
    let name = new.entities[entity].name
    let replaced = replacedAttributes(of: entity)
    for slot in new.entities[entity].relationships.indices {
      let after = PropertySlot(entity: entity, slot: slot)
      let subject = Subject(name, newTree.relationship(after).name)
      let partner = pairing.relationships.partner(ofNew: after, pairing.entities)
      let moves = pairing.relationships.moves[after] ?? []
      if let partner {
        let source = source(ofRelationship: partner)
        concern(subject, source)
        if source.property != subject.property { note(.renamed(from: source), .catalog) }
        compareRelationship(before: partner, after)
      }
      for move in moves {
        let source = source(ofRelationship: move)
        concern(subject, source)
        note(.moved(from: source), .catalog)
        compareRelationship(before: move, after)
      }
      guard partner == nil else { continue }
      concern(subject, nil)
      noteAddition(of: after, isMoved: !moves.isEmpty, replacing: replaced[slot])
    }
    noteInheritance(ofRelationshipsAt: entity)
    if let partner = pairing.entities.oldOf[entity] { noteRemovedRelationships(of: partner) }
  }

  // MARK: Additions and removals

  private mutating func noteAddition(
    of slot: PropertySlot, isMoved: Bool, replacing former: PropertySlot?
  ) {
    let relationship = newTree.relationship(slot)
    let isGained = relationshipFlow.gained.contains(slot)
    let isOptional = relationship.isOptional
    if let former {
      let source = source(ofAttribute: former)
      concern(Subject(new.entities[slot.entity].name, relationship.name), source)
      note(
        .replacesAttribute(source), .code,
        loss: oldTree.attribute(former).isTransient ? nil : .values)
    } else if isMoved {
      if isGained {
        note(.spread(isOptional: isOptional), .catalog, rule: relationship.requiredCount)
      }
    } else if isGained || pairing.entities.oldOf[slot.entity] != nil {
      // If the inverse already existed, so do the links.
      let isFilled = !relationship.isTransient && formerInverse(of: slot) != nil
      note(
        .added(isOptional: isOptional), isFilled ? .pass : .catalog,
        rule: isGained ? relationship.requiredCount : nil)
    }
  }

  private mutating func noteInheritance(ofRelationshipsAt entity: Int) {
    let name = new.entities[entity].name
    for slot in relationshipFlow.inherited[entity] ?? [] {
      let relationship = newTree.relationship(slot)
      concern(Subject(name, relationship.name), nil)
      note(
        .inherited(from: new.entities[slot.entity].name, isOptional: relationship.isOptional),
        .catalog, rule: relationship.requiredCount)
    }
    guard let partner = pairing.entities.oldOf[entity] else { return }
    for slot in relationshipFlow.disinherited[entity] ?? [] {
      let relationship = oldTree.relationship(slot)
      let subject = Subject(old.entities[partner].name, relationship.name)
      concern(subject, subject)
      note(
        .disinherited(from: old.entities[slot.entity].name), .pass,
        loss: relationship.isTransient ? nil : .links)
    }
  }

  mutating func noteRemovedRelationships(of entity: Int) {
    let present = pairing.entities.newOf[entity]
    let gone = Set((present.map { replacedRelationships(of: $0) } ?? [:]).values)
    for (index, partner) in pairing.relationships.newPartners[entity].enumerated()
    where partner == nil {
      let slot = PropertySlot(entity: entity, slot: index)
      let targets = pairing.relationships.movesTo[slot] ?? []
      let isLost = relationshipFlow.lost.contains(slot)
      guard !gone.contains(slot), isLost || (present != nil && targets.isEmpty) else { continue }
      let subject = source(ofRelationship: slot)
      concern(subject, subject)
      note(
        .removed(keptIn: targets.map { new.entities[$0.entity].name }), .catalog,
        loss: isLost ? loss(ofRemoved: slot) : nil)
    }
  }

  /// Returns the kind of data that is lost with a removed relationship, or `nil` if nothing is
  /// lost. Links survive if the inverse does.
  private func loss(ofRemoved slot: PropertySlot) -> ModelDifference.Loss.Kind? {
    let relationship = oldTree.relationship(slot)
    guard !relationship.isTransient else { return nil }
    guard let inverse = oldInverse(of: slot), inverse != slot,
      let kept = pairing.relationships.partner(ofOld: inverse, pairing.entities),
      !newTree.relationship(kept).isTransient
    else { return .links }
    return relationship.isToMany && relationship.isOrdered ? .order : nil
  }

  // MARK: Inverses

  private func oldInverse(of slot: PropertySlot) -> PropertySlot? {
    let relationship = oldTree.relationship(slot)
    guard let inverse = relationship.inverse,
      let destination = oldTree.indexByName[relationship.destination]
    else { return nil }
    return oldTree.relationship(named: inverse, of: destination)
  }

  /// Returns the stored relationship of the older model that corresponds to the inverse of a newer
  /// one, or `nil` if there isn't one.
  private func formerInverse(of slot: PropertySlot) -> PropertySlot? {
    let relationship = newTree.relationship(slot)
    guard let inverse = relationship.inverse,
      let destination = newTree.indexByName[relationship.destination],
      let back = newTree.relationship(named: inverse, of: destination)
    else { return nil }
    return pairing.relationships.sources(of: back, pairing.entities).first {
      !oldTree.relationship($0).isTransient
    }
  }

  // MARK: Kept relationships

  private mutating func compareRelationship(before: PropertySlot, _ after: PropertySlot) {
    let (old, new) = (oldTree.relationship(before), newTree.relationship(after))
    compareDestinations(old, new)
    compareInverses(before, after)
    guard old != new else { return }
    let isStored = !old.isTransient && !new.isTransient
    if old.isToMany != new.isToMany {
      note(
        new.isToMany ? .becameToMany : .becameToOne, isStored ? .pass : .catalog,
        rule: isStored && !new.isToMany ? .maximumCount(1) : nil)
    } else if old.isOrdered != new.isOrdered, new.isToMany {
      note(
        new.isOrdered ? .becameOrdered : .becameUnordered, isStored ? .pass : .catalog,
        loss: isStored && old.isOrdered ? .order : nil)
    }
    if old.isTransient != new.isTransient {
      new.isTransient
        ? note(.becameTransient, .catalog, loss: .links)
        : note(.becameStored, .catalog, rule: new.requiredCount)
    }
    if old.versionHashModifier != new.versionHashModifier {
      note(
        .versionHashModifierChanged(from: old.versionHashModifier, to: new.versionHashModifier),
        .catalog)
    }
    compareRules(old, new)
    if old.userInfo != new.userInfo { note(.userInfoChanged, .none) }
  }

  private mutating func compareRules(
    _ before: RelationshipDescription, _ after: RelationshipDescription
  ) {
    let isStored = !before.isTransient && !after.isTransient
    if before.deleteRule != after.deleteRule {
      note(.deleteRuleChanged(from: before.deleteRule, to: after.deleteRule), .none)
    }
    if before.isOptional != after.isOptional {
      note(
        after.isOptional ? .becameOptional : .becameMandatory, .none,
        rule: isStored ? after.requiredCount : nil)
    }
    if before.minimumCount != after.minimumCount {
      let isMore = after.isToMany && after.minimumCount > before.minimumCount
      note(
        .minimumCountChanged(from: before.minimumCount, to: after.minimumCount), .none,
        rule: isStored && isMore ? .minimumCount(after.minimumCount) : nil)
    }
    if before.maximumCount != after.maximumCount {
      let isLess =
        after.isToMany && after.maximumCount > 0
        && (before.maximumCount == 0 || after.maximumCount < before.maximumCount)
      note(
        .maximumCountChanged(from: before.maximumCount, to: after.maximumCount), .none,
        rule: isStored && isLess ? .maximumCount(after.maximumCount) : nil)
    }
  }

  private mutating func compareDestinations(
    _ before: RelationshipDescription, _ after: RelationshipDescription
  ) {
    let former = oldTree.indexByName[before.destination].flatMap { pairing.entities.newOf[$0] }
    let present = newTree.indexByName[after.destination]
    if let former, let present, former == present { return }
    if former == nil, present == nil, before.destination == after.destination { return }
    let change = RelationshipChange.destinationChanged(
      from: before.destination, to: after.destination)
    if before.isTransient || after.isTransient {
      note(change, .catalog)
    } else if let former, let present, newTree.isKind(former, of: present) {
      note(change, .catalog)
    } else if let former, let present, newTree.isKind(present, of: former) {
      note(change, .catalog, rule: .destination(after.destination))
    } else {
      note(change, .code, loss: .links)
    }
  }

  private mutating func compareInverses(_ before: PropertySlot, _ after: PropertySlot) {
    let (old, new) = (oldTree.relationship(before), newTree.relationship(after))
    let former = oldInverse(of: before)
    let newName = former.flatMap { slot in
      pairing.relationships.targets(of: slot, pairing.entities).first
        .map { newTree.relationship($0).name }
    }
    let isSame =
      former == nil ? old.inverse == new.inverse : newName != nil && newName == new.inverse
    guard !isSame else { return }
    // If the inverse is to-one, it stores the links; otherwise they are in a table of their own.
    let isStored = !old.isTransient && !new.isTransient
    let isMoved = isStored && old.isToMany && new.isToMany
    let back = isStored ? formerInverse(of: after) : nil
    note(
      .inverseChanged(from: old.inverse, to: new.inverse),
      isMoved || back != nil ? .pass : .catalog,
      rule: back == nil || back == former ? nil : new.inverse.map { .inverse($0) })
  }
}

extension RelationshipDescription {
  /// The rule that objects without a member violate, or `nil` if there isn't one.
  fileprivate var requiredCount: ModelDifference.Rule? {
    guard !isOptional, !isTransient else { return nil }
    if !isToMany { return .mandatory }
    return minimumCount > 0 ? .minimumCount(minimumCount) : nil
  }
}
