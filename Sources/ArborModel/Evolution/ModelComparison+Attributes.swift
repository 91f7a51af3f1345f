internal import ArborJSON

extension ModelComparison {
  typealias AttributeChange = ModelDifference.AttributeChange
  typealias Filling = ModelDifference.Filling

  func subject(ofAttribute slot: PropertySlot) -> Subject {
    Subject(new.entities[slot.entity].name, newTree.attribute(slot).name)
  }

  func source(ofAttribute slot: PropertySlot) -> Subject {
    Subject(old.entities[slot.entity].name, oldTree.attribute(slot).name)
  }

  private mutating func note(
    _ change: AttributeChange, _ effort: Effort, loss: ModelDifference.Loss.Kind? = nil,
    rule: Rule? = nil
  ) {
    note(.attribute(change), effort, loss: loss, rule: rule)
  }

  mutating func compareAttributes(of entity: Int) {
    let replaced = replacedRelationships(of: entity)
    for slot in new.entities[entity].attributes.indices {
      let after = PropertySlot(entity: entity, slot: slot)
      let subject = subject(ofAttribute: after)
      let partner = pairing.attributes.partner(ofNew: after, pairing.entities)
      let moves = pairing.attributes.moves[after] ?? []
      if let partner {
        let source = source(ofAttribute: partner)
        concern(subject, source)
        if source.property != subject.property { note(.renamed(from: source), .catalog) }
        compareAttribute(before: partner, after)
      }
      for move in moves {
        let source = source(ofAttribute: move)
        concern(subject, source)
        note(.moved(from: source), .catalog)
        compareAttribute(before: move, after)
      }
      guard partner == nil else { continue }
      noteAddition(of: after, isMoved: !moves.isEmpty, replacing: replaced[slot])
    }
    noteInheritance(ofAttributesAt: entity)
    if let partner = pairing.entities.oldOf[entity] { noteRemovedAttributes(of: partner) }
  }

  // MARK: Additions and removals

  private mutating func noteAddition(
    of slot: PropertySlot, isMoved: Bool, replacing former: PropertySlot?
  ) {
    let attribute = newTree.attribute(slot)
    let subject = subject(ofAttribute: slot)
    let isGained = attributeFlow.gained.contains(slot)
    let filling = Filling(attribute)
    concern(subject, nil)
    if let former {
      let source = source(ofRelationship: former)
      concern(subject, source)
      note(
        .replacesRelationship(source), .code,
        loss: oldTree.relationship(former).isTransient ? nil : .links)
    } else if isMoved {
      if isGained { note(.spread(filling), effort(of: filling), rule: rule(filling)) }
    } else if isGained || pairing.entities.oldOf[slot.entity] != nil {
      note(.added(filling), effort(of: filling), rule: isGained ? rule(filling) : nil)
    }
  }

  private func effort(of filling: Filling) -> Effort { filling == .computed ? .pass : .catalog }

  private func rule(_ filling: Filling) -> Rule? { filling == .missing ? .mandatory : nil }

  private mutating func noteInheritance(ofAttributesAt entity: Int) {
    let name = new.entities[entity].name
    for slot in attributeFlow.inherited[entity] ?? [] {
      let filling = Filling(newTree.attribute(slot))
      concern(Subject(name, newTree.attribute(slot).name), nil)
      note(
        .inherited(from: new.entities[slot.entity].name, filling), effort(of: filling),
        rule: rule(filling))
    }
    guard let partner = pairing.entities.oldOf[entity] else { return }
    for slot in attributeFlow.disinherited[entity] ?? [] {
      let attribute = oldTree.attribute(slot)
      let subject = Subject(old.entities[partner].name, attribute.name)
      concern(subject, subject)
      note(
        .disinherited(from: old.entities[slot.entity].name), .catalog,
        loss: attribute.isStoredByHand ? .values : nil)
    }
  }

  mutating func noteRemovedAttributes(of entity: Int) {
    let present = pairing.entities.newOf[entity]
    let gone = Set((present.map { replacedAttributes(of: $0) } ?? [:]).values)
    for (index, partner) in pairing.attributes.newPartners[entity].enumerated()
    where partner == nil {
      let slot = PropertySlot(entity: entity, slot: index)
      let targets = pairing.attributes.movesTo[slot] ?? []
      let isLost = attributeFlow.lost.contains(slot)
      guard !gone.contains(slot), isLost || (present != nil && targets.isEmpty) else { continue }
      let subject = source(ofAttribute: slot)
      concern(subject, subject)
      note(
        .removed(keptIn: targets.map { new.entities[$0.entity].name }), .catalog,
        loss: isLost && oldTree.attribute(slot).isStoredByHand ? .values : nil)
    }
  }

  // MARK: Kept attributes

  private mutating func compareAttribute(before: PropertySlot, _ after: PropertySlot) {
    let (old, new) = (oldTree.attribute(before), newTree.attribute(after))
    guard old != new else { return }
    compareTypes(old, new, after)
    compareShapes(old, new, after)
    compareStorage(old, new, after)
    compareRules(old, new)
    if old.versionHashModifier != new.versionHashModifier {
      note(
        .versionHashModifierChanged(from: old.versionHashModifier, to: new.versionHashModifier),
        .catalog)
    }
    if old.isPreservedOnDeletion != new.isPreservedOnDeletion {
      note(.preservationChanged(isPreserved: new.isPreservedOnDeletion), .none)
    }
    if old.userInfo != new.userInfo { note(.userInfoChanged, .none) }
  }

  private mutating func compareTypes(
    _ before: AttributeDescription, _ after: AttributeDescription, _ slot: PropertySlot
  ) {
    if before.valueClassName != after.valueClassName {
      note(.valueClassNameChanged(from: before.valueClassName, to: after.valueClassName), .none)
    }
    guard before.type != after.type else { return }
    if case (.transformable(let former), .transformable(let transformer)) =
      (before.type, after.type)
    {
      note(.transformerChanged(from: former, to: transformer), .catalog)
      return
    }
    let conversion = conversion(before, after)
    let isComputed = before.derivation != nil && after.derivation != nil
    let effort: Effort =
      isComputed ? .pass : haveSameParts(before, after) ? .none : Self.effort(of: conversion)
    let isChecked = conversion == .narrowing && !isComputed
    note(
      .typeChanged(from: before.type, to: after.type, conversion), effort,
      loss: conversion == .custom && !isComputed ? .values : nil,
      rule: isChecked ? .valuesFit(after.type) : nil)
    if conversion != .identity { revalued.insert(slot) }
  }

  private mutating func compareShapes(
    _ before: AttributeDescription, _ after: AttributeDescription, _ slot: PropertySlot
  ) {
    guard before.type == .json, after.type == .json else { return }
    let isStored = !before.isTransient && !after.isTransient
    let changesRequired = before.requiredParts != after.requiredParts
    let changes = before.anyShape.changes(to: after.anyShape, standard: after.defaultValue.json)
    for change in changes {
      let mayMisfit = isStored && change.mayMisfit
      // The keys of indexes depend on the types of parts.
      if case .typeChanged = change.change { revalued.insert(slot) }
      let isAddition = if case .added = change.change { true } else { false }
      let affectsStore = mayMisfit || !isAddition && changesRequired
      note(
        .partChanged(path: change.path, change.change), affectsStore ? .catalog : .none,
        rule: mayMisfit ? .valuesFit(.json) : nil)
    }
  }

  private func conversion(
    _ before: AttributeDescription, _ after: AttributeDescription
  ) -> ModelDifference.ValueConversion {
    // Nothing is converted unless both attributes are stored.
    if before.isTransient || after.isTransient { return .identity }
    return conversion(from: before.type, to: after.type)
  }

  /// Returns the conversion between two types of the models. It is the identity for composite types
  /// if every value of one is a value of the other as it is; the names of the parts are stored, but
  /// not the type's name.
  func conversion(
    from before: AttributeType, to after: AttributeType
  ) -> ModelDifference.ValueConversion {
    if case (.composite(let former), .composite(let name)) = (before, after),
      CompositeConversion(from: former, of: old, to: name, of: new)?.isIdentity == true
    {
      return .identity
    }
    return ModelDifference.ValueConversion(from: before, to: after)
  }

  /// Returns whether two attributes have composite types with equal parts, so that their models have
  /// the same fingerprint.
  private func haveSameParts(_ before: AttributeDescription, _ after: AttributeDescription) -> Bool
  {
    guard case (.composite(let former), .composite(let name)) = (before.type, after.type) else {
      return false
    }
    let parts = old.composites.first { $0.name == former }?.attributes
    return parts == new.composites.first { $0.name == name }?.attributes
      // Nested types may have changed.
      && CompositeConversion(from: former, of: old, to: name, of: new)?.isIdentity == true
  }

  private mutating func compareStorage(
    _ before: AttributeDescription, _ after: AttributeDescription, _ slot: PropertySlot
  ) {
    let filling = Filling(after)
    if before.isOptional != after.isOptional {
      if after.isOptional {
        note(.becameOptional, .catalog)
      } else {
        note(.becameMandatory(filling), .catalog, rule: rule(filling))
        if case .value = filling { revalued.insert(slot) }
      }
    }
    if before.isTransient != after.isTransient {
      after.isTransient
        ? note(.becameTransient, .catalog, loss: before.isStoredByHand ? .values : nil)
        : note(.becameStored(filling), effort(of: filling), rule: rule(filling))
    }
    if before.derivation != after.derivation {
      let isStored = !before.isTransient && !after.isTransient
      note(
        .derivationChanged(from: before.derivation, to: after.derivation),
        after.derivation == nil || !isStored ? .catalog : .pass,
        loss: isStored && before.isStoredByHand ? .values : nil)
      if after.derivation != nil { revalued.insert(slot) }
    }
    if before.allowsExternalStorage != after.allowsExternalStorage {
      note(.externalStorageChanged(isAllowed: after.allowsExternalStorage), .catalog)
    }
  }

  private mutating func compareRules(
    _ before: AttributeDescription, _ after: AttributeDescription
  ) {
    if before.defaultValue != after.defaultValue {
      // The default of a JSON attribute supplies members that values lack.
      let isJSON = before.type == .json && after.type == .json
      let isRequired = isJSON && before.requiredParts != after.requiredParts
      note(
        .defaultChanged(from: before.defaultValue, to: after.defaultValue),
        isRequired ? .catalog : .none, rule: isRequired ? .valuesFit(.json) : nil)
    }
    let isStored = !before.isTransient && !after.isTransient
    let bounds = (before: ModelDifference.Bounds(before), after: ModelDifference.Bounds(after))
    if bounds.before != bounds.after {
      let isNarrower = isStored && bounds.after.isNarrower(than: bounds.before)
      note(
        .boundsChanged(from: bounds.before, to: bounds.after), .none,
        rule: isNarrower ? .bounds(bounds.after) : nil)
    }
    if before.regularExpression != after.regularExpression {
      note(
        .patternChanged(from: before.regularExpression, to: after.regularExpression), .none,
        rule: isStored ? after.regularExpression.map { .pattern($0) } : nil)
    }
  }
}

extension AttributeDescription {
  /// Whether the values are stored and not derived.
  fileprivate var isStoredByHand: Bool { !isTransient && derivation == nil }
}
