extension ModelRules {
  /// Checks names, parents and cycles.
  mutating func checkEntities() {
    var firstUse: [String: String] = [:]
    for (index, entity) in model.entities.enumerated() {
      if let flaw = Self.flaw(ofName: entity.name) {
        report(.entity(index), "Entity \(entity.name) \(flaw).")
      }
      if let earlier = firstUse.updateValue(entity.name, forKey: entity.name.lowercased()) {
        let how =
          earlier == entity.name
          ? "it is declared twice"
          : "its name differs from \(earlier) in case only"
        report(.entity(index), "Entity \(entity.name) is not unique: \(how). Rename one.")
      }
      checkParent(of: index)
    }
  }

  private mutating func checkParent(of index: Int) {
    let entity = model.entities[index]
    guard let parent = entity.parent else { return }
    guard let parentIndex = entityIndex[parent] else {
      report(
        .entity(index),
        "Entity \(entity.name) inherits from the unknown entity \(parent). Use an entity of the "
          + "model.\(entityHint(parent))")
      return
    }
    // All members of a cycle detect the same cycle; the first of them reports it.
    let lineage = lineages[index]
    if lineage.count > Self.maximumAncestors + 1 {
      reportDepth(of: index)
      return
    }
    let last = model.entities[lineage[lineage.count - 1]]
    if let backTo = last.parent.flatMap({ entityIndex[$0] }), backTo == index,
      lineage.min() == index
    {
      let names = (lineage + [index]).map { model.entities[$0].name }.joined(separator: " → ")
      report(
        .entity(index),
        "Entity \(entity.name) inherits from itself (\(names)). Remove one parent.")
    }
    if entity.isAbstract, !model.entities[parentIndex].isAbstract {
      warn(
        .entity(index),
        "Entity \(entity.name) is abstract, but its parent \(parent) is not. Check which of them "
          + "should have objects.")
    }
  }

  /// Reports an inheritance chain that is too long, but only once rather than for each entity below
  /// it.
  private mutating func reportDepth(of index: Int) {
    guard !hasReportedDepth else { return }
    hasReportedDepth = true
    report(
      .entity(index),
      "Entity \(model.entities[index].name) has more than \(Self.maximumAncestors) ancestors. "
        + "Inherit from an entity with fewer ancestors.")
  }

  /// Checks that property names are valid and unique among own and inherited ones.
  mutating func checkPropertyNames() {
    let own = model.entities.indices.map { checkOwnPropertyNames(of: $0) }
    for (index, entity) in model.entities.enumerated() {
      var inherited: [String: Int] = [:]
      for ancestor in lineages[index].dropFirst().reversed() {
        for name in own[ancestor].keys { inherited[name] = ancestor }
      }
      for (name, subject) in own[index].sorted(by: { $0.key < $1.key }) {
        guard let ancestor = inherited[name] else { continue }
        report(
          subject.subject,
          "\(subject.kind) \(entity.name).\(subject.name) is also a property of its ancestor "
            + "\(model.entities[ancestor].name). Rename or remove one of them.")
      }
      let count = own[index].count + inherited.count
      if count > Int(UInt16.max) {
        report(
          .entity(index),
          "Entity \(entity.name) has \(count) properties, which exceeds the limit of "
            + "\(UInt16.max). Split the entity.")
      }
    }
  }

  private struct NamedProperty {
    let kind: String
    let name: String
    let subject: ModelSubject
  }

  private mutating func checkOwnPropertyNames(of index: Int) -> [String: NamedProperty] {
    let entity = model.entities[index]
    let properties =
      entity.attributes.enumerated().map {
        NamedProperty(kind: "Attribute", name: $1.name, subject: .attribute(index, $0))
      }
      + entity.relationships.enumerated().map {
        NamedProperty(kind: "Relationship", name: $1.name, subject: .relationship(index, $0))
      }
      + entity.fetchedProperties.enumerated().map {
        NamedProperty(kind: "Fetched property", name: $1.name, subject: .fetchedProperty(index, $0))
      }
    var firstUse: [String: NamedProperty] = [:]
    for property in properties {
      if let flaw = Self.flaw(ofName: property.name) {
        report(property.subject, "\(property.kind) \(entity.name).\(property.name) \(flaw).")
        if property.name.isEmpty { continue }
      }
      let key = property.name.lowercased()
      guard let earlier = firstUse[key] else {
        firstUse[key] = property
        continue
      }
      let how =
        earlier.name == property.name
        ? "the entity has two properties with this name"
        : "its name differs from \(earlier.name) in case only"
      report(
        property.subject,
        "\(property.kind) \(entity.name).\(property.name) is not unique: \(how). Rename one.")
    }
    return firstUse
  }

  /// Checks the names and entities of named requests.
  mutating func checkTemplates() {
    var names: Set<String> = []
    for (index, template) in model.fetchRequestTemplates.enumerated() {
      if template.name.isEmpty {
        report(.template(index), "A fetch request has no name. Name it.")
      } else if !names.insert(template.name).inserted {
        report(.template(index), "There are two fetch requests named \(template.name). Rename one.")
      }
      check(template, called: "Fetch request \(template.name)", at: .template(index))
    }
    for (index, entity) in model.entities.enumerated() {
      for (propertyIndex, property) in entity.fetchedProperties.enumerated() {
        check(
          property.request, called: "Fetched property \(entity.name).\(property.name)",
          at: .fetchedProperty(index, propertyIndex))
      }
    }
  }

  private mutating func check(
    _ template: FetchRequestTemplate, called name: String, at subject: ModelSubject
  ) {
    if entityIndex[template.entity] == nil {
      report(
        subject,
        "\(name) fetches the unknown entity \(template.entity). Use an entity of the "
          + "model.\(entityHint(template.entity))")
    }
    if template.fetchLimit < 0 || template.fetchBatchSize < 0 {
      report(subject, "\(name) has a negative limit or batch size. Use 0 for no limit.")
    }
  }

  mutating func checkConfigurations() {
    for (name, members) in model.configurations.sorted(by: { $0.key < $1.key }) {
      for member in members where entityIndex[member] == nil {
        report(
          .configuration(name),
          "Configuration \(name) lists the unknown entity \(member). Correct or remove the "
            + "name.\(entityHint(member))")
      }
    }
  }
}
