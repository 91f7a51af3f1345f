import ArborModel

/// A model as text: a block for each entity, a line for each property.
struct SchemaText {
  let model: ManagedObjectModel

  var text: String {
    var blocks = model.entities.map(entity)
    if !model.fetchRequestTemplates.isEmpty {
      let lines = model.fetchRequestTemplates.map { template in
        "  \(template.name): \(template.entity)"
          + (template.predicate.map { " where \($0)" } ?? "")
      }
      blocks.append("fetch requests\n" + lines.joined(separator: "\n"))
    }
    return blocks.joined(separator: "\n\n")
  }

  private func entity(_ entity: EntityDescription) -> String {
    var title = entity.isAbstract ? "abstract entity \(entity.name)" : "entity \(entity.name)"
    if let parent = entity.parent { title += ": \(parent)" }
    var table = TextTable([])
    for attribute in entity.attributes {
      table.add(["  \(attribute.name)", "\(attribute.type)", notes(attribute)])
    }
    for relationship in entity.relationships {
      table.add(["  \(relationship.name)", type(relationship), notes(relationship)])
    }
    var lines = table.text.isEmpty ? [title] : [title, table.text]
    for index in entity.fetchIndexes {
      lines.append("  index \(index.name) \(index.summary)")
    }
    lines += entity.uniquenessConstraints.map { "  unique (\($0.joined(separator: ", ")))" }
    return lines.joined(separator: "\n")
  }

  private func notes(_ attribute: AttributeDescription) -> String {
    var notes: [String] = []
    if attribute.isOptional { notes.append("optional") }
    if attribute.isTransient { notes.append("transient") }
    if attribute.isIndexed { notes.append("indexed") }
    if !attribute.defaultValue.isNull {
      notes.append("default \(ValueText.text(attribute.defaultValue))")
    }
    if !attribute.minimum.isNull { notes.append("at least \(ValueText.text(attribute.minimum))") }
    if !attribute.maximum.isNull { notes.append("at most \(ValueText.text(attribute.maximum))") }
    if let pattern = attribute.regularExpression { notes.append("matching \(pattern)") }
    return notes.joined(separator: ", ")
  }

  private func type(_ relationship: RelationshipDescription) -> String {
    guard relationship.isToMany else { return relationship.destination }
    return relationship.isOrdered
      ? "[\(relationship.destination)]" : "{\(relationship.destination)}"
  }

  private func notes(_ relationship: RelationshipDescription) -> String {
    var notes: [String] = []
    if let inverse = relationship.inverse { notes.append("inverse \(inverse)") }
    if relationship.deleteRule != .nullify { notes.append("\(relationship.deleteRule) on delete") }
    if !relationship.isOptional { notes.append("mandatory") }
    return notes.joined(separator: ", ")
  }
}
