/// Comparison of entities and composite types.
extension ModelComparison {
  mutating func compareEntity(_ index: Int) {
    let after = new.entities[index]
    guard let partner = pairing.entities.oldOf[index] else {
      concern(Subject(after.name), nil)
      note(.entity(.added), .catalog)
      return
    }
    let before = old.entities[partner]
    concern(Subject(after.name), Subject(before.name))
    if before.name != after.name { note(.entity(.renamed(from: before.name)), .catalog) }
    compareParents(before, partner, after, index)
    if before.isAbstract != after.isAbstract {
      // An abstract entity has no objects of its own, so existing ones would be left without an
      // entity.
      after.isAbstract
        ? note(.entity(.becameAbstract), .code, loss: .objects)
        : note(.entity(.becameConcrete), .catalog)
    }
    if before.className != after.className {
      note(.entity(.classNameChanged(from: before.className, to: after.className)), .none)
    }
    if before.versionHashModifier != after.versionHashModifier {
      note(
        .entity(
          .versionHashModifierChanged(
            from: before.versionHashModifier, to: after.versionHashModifier)), .catalog)
    }
    if before.fetchedProperties != after.fetchedProperties {
      note(.entity(.fetchedPropertiesChanged), .none)
    }
    if before.userInfo != after.userInfo { note(.entity(.userInfoChanged), .none) }
  }

  private mutating func compareParents(
    _ before: EntityDescription, _ oldIndex: Int, _ after: EntityDescription, _ index: Int
  ) {
    let newName = before.parent.map { name -> String? in
      guard let parent = oldTree.indexByName[name] else { return name }
      return pairing.entities.newOf[parent].map { new.entities[$0].name }
    }
    guard newName != after.parent.map({ Optional($0) }), let pair = relatives[index] else { return }
    // A relationship to a former ancestor may contain objects of this entity.
    let lost = pairing.entities.lostAncestors(pair).compactMap { pairing.entities.newOf[$0] }
      .filter(destinations.contains).map { new.entities[$0].name }
    note(
      .entity(.parentChanged(from: before.parent, to: after.parent)), .catalog,
      rule: lost.isEmpty ? nil : .noLongerKind(of: lost))
  }

  mutating func noteRemoval(ofEntity index: Int) {
    let entity = old.entities[index]
    concern(Subject(entity.name), Subject(entity.name))
    note(.entity(.removed), .catalog, loss: entity.isAbstract ? nil : .objects)
    noteRemovedAttributes(of: index)
    noteRemovedRelationships(of: index)
  }

  // MARK: Composite types

  mutating func compareComposites() {
    concern(nil, nil)
    let pairs = IdentityPairs(
      old.composites.map { PartIdentity($0.name, nil) },
      new.composites.map { PartIdentity($0.name, nil) })
    for (index, composite) in new.composites.enumerated() {
      if let partner = pairs.oldOf[index] {
        compare(old.composites[partner], composite)
      } else {
        note(.composite(.added(name: composite.name)), .none)
      }
    }
    for (index, composite) in old.composites.enumerated() where pairs.newOf[index] == nil {
      note(.composite(.removed(name: composite.name)), .none)
    }
  }

  /// Compares two versions of a composite type. Attributes store the values of the parts by name.
  private mutating func compare(_ before: CompositeDescription, _ after: CompositeDescription) {
    let name = after.name
    let isStored =
      !old.attributes(containing: before.name).isEmpty
      && !new.attributes(containing: after.name).isEmpty
    let pairs = IdentityPairs(
      before.attributes.map { PartIdentity($0) }, after.attributes.map { PartIdentity($0) })
    for (index, part) in after.attributes.enumerated() {
      guard let partner = pairs.oldOf[index] else {
        let filling = ModelDifference.Filling(part)
        concern(nil, nil)
        note(
          .composite(.partAdded(name: name, part: part.name, filling)), isStored ? .pass : .none,
          rule: isStored && filling == .missing ? .mandatory : nil)
        continue
      }
      concern(nil, Subject(name, before.attributes[partner].name))
      compare(before.attributes[partner], part, of: name, isStored: isStored)
    }
    for (index, part) in before.attributes.enumerated() where pairs.newOf[index] == nil {
      concern(nil, Subject(name, part.name))
      note(
        .composite(.partRemoved(name: name, part: part.name)), isStored ? .pass : .none,
        loss: isStored ? .values : nil)
    }
  }

  private mutating func compare(
    _ before: AttributeDescription, _ after: AttributeDescription, of name: String, isStored: Bool
  ) {
    if before.name != after.name {
      note(
        .composite(.partRenamed(name: name, part: after.name, from: before.name)),
        isStored ? .pass : .none)
    }
    if before.type != after.type {
      let conversion = conversion(from: before.type, to: after.type)
      // The values of parts are stored with their types, so even certain conversions take a pass.
      let effort: Effort =
        switch conversion {
        case _ where !isStored: .none
        case .identity: .catalog
        case .custom: .code
        default: .pass
        }
      note(
        .composite(
          .partTypeChanged(
            name: name, part: after.name, from: before.type, to: after.type, conversion)),
        effort, loss: isStored && conversion == .custom ? .values : nil,
        rule: isStored && conversion == .narrowing ? .valuesFit(after.type) : nil)
    }
    var declaration = before
    declaration.name = after.name
    declaration.type = after.type
    declaration.renamingIdentifier = after.renamingIdentifier
    guard declaration != after else { return }
    let isRequired = isStored && after.tightens(before)
    note(
      .composite(.partDeclarationChanged(name: name, part: after.name)),
      isRequired ? .pass : isStored ? .catalog : .none,
      rule: isRequired && after.defaultValue.isNull ? .mandatory : nil)
  }

  static func effort(of conversion: ModelDifference.ValueConversion) -> Effort {
    switch conversion {
    case .custom: .code
    // Every value must be checked first.
    case .narrowing: .pass
    default: .catalog
    }
  }
}
