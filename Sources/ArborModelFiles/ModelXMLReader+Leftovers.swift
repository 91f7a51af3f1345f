internal import ArborModel

/// Repairs leftovers from editors in otherwise valid models. They are reported as warnings, because
/// Core Data's compiler accepts them.
extension ModelXMLReader {
  /// Repairs the model before the rules are applied.
  mutating func mendLeftovers() {
    let names = ModelRules(model)
    dropLopsidedInverses(names)
    dropRepeatedAttributes(names)
    dropStaleIndexes(names)
    dropStaleConstraints(names)
    dropStaleRequests(names)
    dropStaleMembers(names)
  }

  // MARK: Inverses

  /// Removes the inverse from each relationship whose inverse doesn't name it in return.
  ///
  /// They are all determined first, from the file's content, because removing one must not affect
  /// the others.
  private mutating func dropLopsidedInverses(_ names: ModelRules) {
    for (index, entity) in names.model.entities.enumerated() {
      for (propertyIndex, relationship) in entity.relationships.enumerated() {
        guard let inverse = relationship.inverse,
          let destination = names.entityIndex[relationship.destination],
          let back = names.relationship(inverse, of: destination),
          back.inverse != relationship.name, !names.leadsNowhere(back)
        else { continue }
        let subject = ModelSubject.relationship(index, propertyIndex)
        let what =
          back.inverse.map { "names \(back.destination).\($0) as its inverse" } ?? "has no inverse"
        report(
          nodes[subject], entity: entity.name, property: relationship.name,
          "Relationship \(entity.name).\(relationship.name) names "
            + "\(relationship.destination).\(inverse) as its inverse, which \(what). The "
            + "relationship is read without an inverse. Make the two relationships name each other."
        )
        model.entities[index].relationships[propertyIndex].inverse = nil
        mended.insert(subject)
      }
    }
  }

  // MARK: Attributes

  /// Drops attributes that an ancestor already declares with the same type.
  private mutating func dropRepeatedAttributes(_ names: ModelRules) {
    for (index, entity) in names.model.entities.enumerated() where names.lineages[index].count > 1 {
      var kept: [Int] = []
      for (propertyIndex, attribute) in entity.attributes.enumerated() {
        let subject = ModelSubject.attribute(index, propertyIndex)
        guard !unreadable.contains(subject),
          let ancestor = names.ancestor(of: index, with: attribute)
        else {
          kept.append(propertyIndex)
          continue
        }
        report(
          nodes[subject], entity: entity.name, property: attribute.name,
          "Attribute \(entity.name).\(attribute.name) is already declared by the ancestor "
            + "\(ancestor) with the same type. This declaration has no effect; remove it.")
      }
      if kept.count < entity.attributes.count { keepAttributes(kept, of: index) }
    }
  }

  /// Removes all attributes of an entity except those at the given indices, and updates the indices
  /// in the state recorded for them.
  private mutating func keepAttributes(_ kept: [Int], of entity: Int) {
    let old = model.entities[entity].attributes
    model.entities[entity].attributes = kept.map { old[$0] }
    let oldNodes = old.indices.map { nodes.removeValue(forKey: .attribute(entity, $0)) }
    let wereUnreadable = old.indices.map { unreadable.remove(.attribute(entity, $0)) != nil }
    for (propertyIndex, former) in kept.enumerated() {
      nodes[.attribute(entity, propertyIndex)] = oldNodes[former]
      if wereUnreadable[former] { unreadable.insert(.attribute(entity, propertyIndex)) }
    }
  }

  // MARK: Names that no longer exist

  /// Drops indexes that name a nonexistent property.
  private mutating func dropStaleIndexes(_ names: ModelRules) {
    for (index, entity) in names.model.entities.enumerated() {
      model.entities[index].fetchIndexes = remaining(
        entity.fetchIndexes, of: entity.name, { .index(index, $0) }
      ) { fetchIndex in
        names.unknownProperty(ofIndex: fetchIndex, of: index).map {
          "Index \(fetchIndex.name) of \(entity.name) lists \($0), which doesn't exist. The index "
            + "has no effect. Remove it, or correct the name."
        }
      }
    }
  }

  /// Drops uniqueness constraints that are empty or name a nonexistent property.
  private mutating func dropStaleConstraints(_ names: ModelRules) {
    for (index, entity) in names.model.entities.enumerated() {
      model.entities[index].uniquenessConstraints = remaining(
        entity.uniquenessConstraints, of: entity.name, { .constraint(index, $0) }
      ) { constraint in
        if constraint.isEmpty {
          return "A uniqueness constraint of \(entity.name) is empty. It has no effect; remove it "
            + "or add a property."
        }
        return constraint.first { names.property($0, of: index) == nil }.map {
          "The uniqueness constraint (\(constraint.joined(separator: ", "))) of \(entity.name) "
            + "lists \($0), which doesn't exist. The constraint has no effect. Remove it, or "
            + "correct the name."
        }
      }
    }
  }

  /// Drops named requests and fetched properties that fetch a nonexistent entity.
  private mutating func dropStaleRequests(_ names: ModelRules) {
    func flaw(_ request: FetchRequestTemplate, _ subject: String) -> String? {
      guard !request.entity.isEmpty, names.entityIndex[request.entity] == nil else { return nil }
      return "\(subject) fetches \(request.entity), which doesn't exist. This declaration is "
        + "ignored. Remove it, or correct the name."
    }
    model.fetchRequestTemplates = remaining(
      names.model.fetchRequestTemplates, of: nil, ModelSubject.template
    ) { flaw($0, "Fetch request \($0.name)") }
    for (index, entity) in names.model.entities.enumerated() {
      model.entities[index].fetchedProperties = remaining(
        entity.fetchedProperties, of: entity.name, { .fetchedProperty(index, $0) }
      ) { flaw($0.request, "Fetched property \(entity.name).\($0.name)") }
    }
  }

  /// Returns the parts of an entity or of the model that have no flaw, and reports the others as
  /// warnings.
  ///
  /// - Parameter flaw: A closure that returns the warning for a part to drop, or `nil` for a part
  ///   to keep.
  private mutating func remaining<Part>(
    _ parts: [Part], of entity: String?, _ subject: (Int) -> ModelSubject, flaw: (Part) -> String?
  ) -> [Part] {
    let flaws = parts.map(flaw)
    guard flaws.contains(where: { $0 != nil }) else { return parts }
    let partNodes = parts.indices.map { nodes.removeValue(forKey: subject($0)) }
    var kept: [Part] = []
    for (position, flaw) in flaws.enumerated() {
      if let flaw {
        report(partNodes[position], entity: entity, property: nil, flaw)
      } else {
        nodes[subject(kept.count)] = partNodes[position]
        kept.append(parts[position])
      }
    }
    return kept
  }

  private mutating func dropStaleMembers(_ names: ModelRules) {
    for (name, members) in names.model.configurations {
      for member in members where names.entityIndex[member] == nil {
        report(
          nodes[.configuration(name)], entity: nil, property: nil,
          "Configuration \(name) lists the entity \(member), which doesn't exist. Remove the name, "
            + "or correct it.")
      }
      model.configurations[name] = members.filter { names.entityIndex[$0] != nil }
    }
  }

  private mutating func report(
    _ node: ModelXMLNode?, entity: String?, property: String?, _ message: String
  ) {
    guard let node else { return }
    report(node, as: .warning, entity: entity, property: property, message)
  }
}

extension ModelRules {
  /// Returns whether a relationship names a nonexistent inverse, which is reported separately.
  fileprivate func leadsNowhere(_ relationship: RelationshipDescription) -> Bool {
    guard let inverse = relationship.inverse else { return false }
    guard let destination = entityIndex[relationship.destination] else { return true }
    return self.relationship(inverse, of: destination) == nil
  }

  /// Returns a name in an index or its condition that isn't a property of the entity, or `nil` if
  /// there isn't one.
  fileprivate func unknownProperty(
    ofIndex fetchIndex: FetchIndexDescription, of entity: Int
  ) -> String? {
    for element in fetchIndex.elements where !element.isExpression || element.foldedProperty != nil
    {
      let path = element.foldedProperty ?? element.property
      let first = String(path.prefix { $0 != "." })
      if property(first, of: entity) == nil { return first.isEmpty ? nil : path }
    }
    return fetchIndex.partialIndexPredicate.flatMap {
      unknownProperty(ofPredicate: $0, on: entity)
    }
  }

  /// Returns the name of the nearest ancestor that has an attribute of the same name and type, or
  /// `nil` if there isn't one.
  fileprivate func ancestor(of entity: Int, with attribute: AttributeDescription) -> String? {
    for ancestor in lineages[entity].dropFirst() {
      guard case .attribute(let inherited)? = ownProperties[ancestor][attribute.name] else {
        continue
      }
      return inherited.type == attribute.type ? model.entities[ancestor].name : nil
    }
    return nil
  }
}
