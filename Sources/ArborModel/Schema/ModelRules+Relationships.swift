extension ModelRules {
  /// Checks destinations, inverses, order and counts.
  mutating func checkRelationships() {
    for (index, entity) in model.entities.enumerated() {
      for (propertyIndex, relationship) in entity.relationships.enumerated() {
        let subject = ModelSubject.relationship(index, propertyIndex)
        let name = "Relationship \(entity.name).\(relationship.name)"
        checkShape(of: relationship, called: name, at: subject)
        guard !relationship.destination.isEmpty else {
          report(subject, "\(name) has no destination. Use an entity of the model.")
          continue
        }
        guard let destination = entityIndex[relationship.destination] else {
          report(
            subject,
            "\(name) has the unknown destination \(relationship.destination). Use an entity of the "
              + "model.\(entityHint(relationship.destination))")
          continue
        }
        if let inverse = relationship.inverse {
          checkInverse(
            inverse, of: relationship, in: index, destination: destination, called: name,
            at: subject)
        } else {
          warn(
            subject,
            "\(name) has no inverse, so its two sides can become inconsistent. Add an inverse "
              + "relationship to \(relationship.destination).")
        }
      }
    }
  }

  private mutating func checkShape(
    of relationship: RelationshipDescription, called name: String, at subject: ModelSubject
  ) {
    let (minimum, maximum) = (relationship.minimumCount, relationship.maximumCount)
    if relationship.isOrdered, !relationship.isToMany {
      report(subject, "\(name) is ordered but to-one. Make it to-many or unordered.")
    }
    if minimum < 0 || maximum < 0 {
      report(
        subject,
        "\(name) has a negative minimum or maximum count. Use 0 or more; 0 means no bound.")
    } else if !relationship.isToMany, minimum > 1 || maximum > 1 {
      report(subject, "\(name) is to-one but has a count above 1. Make it to-many.")
    } else if maximum > 0, minimum > maximum {
      report(
        subject,
        "\(name) has the minimum count \(minimum), which exceeds its maximum count \(maximum). "
          + "Correct the counts.")
    }
  }

  private mutating func checkInverse(
    _ inverse: String, of relationship: RelationshipDescription, in entity: Int, destination: Int,
    called name: String, at subject: ModelSubject
  ) {
    let there = relationship.destination
    guard let back = self.relationship(inverse, of: destination) else {
      report(
        subject,
        "\(name) names \(inverse) as its inverse, which is not a relationship of \(there). Correct "
          + "the name, or add the "
          + "relationship.\(hint(inverse) { $0.relationshipNames(of: destination) })")
      return
    }
    guard let backDestination = entityIndex[back.destination] else { return }
    // If the names at the other end cannot be resolved, the relationship there is reported instead.
    if let returning = back.inverse, self.relationship(returning, of: backDestination) == nil {
      return
    }
    if back.inverse != relationship.name {
      let what = back.inverse.map { "names \($0) as its own" } ?? "has no inverse"
      report(
        subject,
        "\(name) names \(there).\(inverse) as its inverse, which \(what). Make both relationships "
          + "name each other.")
    } else if !lineages[entity].contains(backDestination) {
      report(
        subject,
        "\(name) names \(there).\(inverse) as its inverse, whose destination is "
          + "\(back.destination). Change that destination to \(model.entities[entity].name) or one "
          + "of its ancestors.")
    }
  }

  private func relationshipNames(of entity: Int) -> [String] {
    lineages[entity].flatMap { model.entities[$0].relationships.map(\.name) }
  }
}
