import ArborModel
import ArborSource

extension EntitySource {
  /// Creates the source of an entity's class.
  init(_ entity: EntityDescription, in model: ManagedObjectModel, _ names: ClassNames) {
    let isParent = model.entities.contains { $0.parent == entity.name }
    let (unique, others) = entity.uniquenessApart
    self.init(
      className: names[entity.name], name: entity.name,
      superclass: entity.parent.map { names[$0] }, modifiers: isParent ? "" : "final ",
      uniqueAttributes: unique)
    properties =
      entity.attributes.map { PropertySource($0, isUnique: unique.contains($0.name)) }
      + entity.relationships.map { PropertySource($0, names) }
    if entity.isAbstract { facts.isAbstract = "true" }
    if !others.isEmpty {
      facts.uniqueness = "[\(others.map(ValueSource.names).joined(separator: ", "))]"
    }
    facts.indexes = Self.list(entity.fetchIndexes.map(\.source))
    facts.renamedFrom = entity.renamingIdentifier.map(SourceText.literal)
    facts.versionHashModifier = entity.versionHashModifier.map(SourceText.literal)
    facts.userInfo = ValueSource.notes(entity.userInfo)
    facts.fetchedProperties = Self.list(entity.fetchedProperties.map(\.source))
  }

  private static func list(_ elements: [String]) -> String? {
    elements.isEmpty ? nil : SourceText.lines(elements, indentation: 2)
  }
}

extension EntityDescription {
  /// The attributes that are unique on their own, and the other constraints. Together they
  /// preserve the order of the constraints if those of attributes come first, in the order of the
  /// attributes.
  fileprivate var uniquenessApart: (attributes: [String], others: [[String]]) {
    let names = attributes.map(\.name)
    let single = uniquenessConstraints.prefix { $0.count == 1 && names.contains($0[0]) }
      .map { $0[0] }
    guard single == names.filter(single.contains) else { return ([], uniquenessConstraints) }
    return (single, Array(uniquenessConstraints.dropFirst(single.count)))
  }
}

extension PropertySource {
  fileprivate init(_ attribute: AttributeDescription, isUnique: Bool) {
    let type = attribute.type.kind.swiftName + (attribute.isOptional ? "?" : "")
    self.init(attribute.name, .attribute, type)
    if isUnique { options.append(Self.unique) }
    switch attribute.type {
    case .json where attribute.shape != nil:
      options.append(".json(\(attribute.anyShape.source))")
    case .transformable, .composite, .json: options.append(".type(\(attribute.type.source))")
    default: break
    }
    if !attribute.defaultValue.isNull {
      defaultValue = ValueSource.typed(attribute.defaultValue, as: attribute.type)
      if defaultValue == nil {
        options.append(".default(\(ValueSource.dynamic(attribute.defaultValue)))")
      }
    }
    options += attribute.options
  }

  fileprivate init(_ relationship: RelationshipDescription, _ names: ClassNames) {
    let destination = names[relationship.destination]
    switch (relationship.isToMany, relationship.isOrdered) {
    case (false, _): self.init(relationship.name, .toOne, "\(destination)?")
    case (true, false): self.init(relationship.name, .toMany, "Set<\(destination)>")
    case (true, true): self.init(relationship.name, .orderedToMany, "[\(destination)]")
    }
    inverse = relationship.inverse
    if relationship.deleteRule != .nullify { deleteRule = ".\(relationship.deleteRule)" }
    if !relationship.isOptional { options.append(".mandatory") }
    if relationship.isTransient { options.append(".transient") }
    switch (relationship.minimumCount, relationship.maximumCount) {
    case (0, 0): break
    case (let least, 0): options.append(".count(\(least)...)")
    case (0, let greatest): options.append(".count(...\(greatest))")
    case (let least, let greatest): options.append(".count(\(least)...\(greatest))")
    }
    options += [
      relationship.renamingIdentifier.map { ".renamed(from: \(SourceText.literal($0)))" },
      relationship.versionHashModifier.map { ".versionHashModifier(\(SourceText.literal($0)))" },
      ValueSource.notes(relationship.userInfo).map { ".userInfo(\($0))" },
    ].compactMap(\.self)
  }
}

extension AttributeDescription {
  /// The options other than type, default value, optionality and uniqueness.
  var options: [String] {
    var options: [String] = []
    if isIndexed { options.append(".indexed") }
    if isTransient { options.append(".transient") }
    if allowsExternalStorage { options.append(".externalStorage") }
    if isPreservedOnDeletion { options.append(".preservedOnDeletion") }
    options += ValueSource.bounds(minimum, maximum)
    let said = [
      ("pattern", regularExpression), ("derived", derivation), ("valueClass", valueClassName),
    ]
    options += said.compactMap { name, text in
      text.map { ".\(name)(\(SourceText.literal($0)))" }
    }
    options += [
      renamingIdentifier.map { ".renamed(from: \(SourceText.literal($0)))" },
      versionHashModifier.map { ".versionHashModifier(\(SourceText.literal($0)))" },
      ValueSource.notes(userInfo).map { ".userInfo(\($0))" },
    ].compactMap(\.self)
    return options
  }
}

extension AttributeType {
  /// The type as an expression.
  var source: String {
    switch self {
    case .transformable(let name): ".transformable(\(SourceText.literal(name)))"
    case .composite(let name): ".composite(\(SourceText.literal(name)))"
    default: ".\(self)"
    }
  }
}

extension JSONShape {
  /// The structure as an expression.
  var source: String {
    switch self {
    case .any: ".any"
    case .scalar(.integer(64, true)): ".integer"
    case .scalar(.integer(let bits, let isSigned)):
      ".scalar(.integer(bits: \(bits), isSigned: \(isSigned)))"
    case .scalar(let scalar): ".\(scalar)"
    case .cases(let cases): ".cases([\(cases.map(ValueSource.dynamic).joined(separator: ", "))])"
    case .list(let element): ".list(\(element.source))"
    case .map(let member): ".map(\(member.source))"
    case .optional(let shape): ".optional(\(shape.source))"
    case .object(let members) where members.isEmpty: ".object([:])"
    case .object(let members):
      "["
        + members.sorted { $0.key < $1.key }
        .map { "\(SourceText.literal($0.key)): \($0.value.source)" }.joined(separator: ", ") + "]"
    }
  }
}

extension FetchIndexDescription {
  fileprivate var source: String {
    var arguments = ["name: \(SourceText.literal(name))"]
    arguments.append("elements: [\(elements.map(\.source).joined(separator: ", "))]")
    if let condition = partialIndexPredicate {
      arguments.append("partialIndexPredicate: \(SourceText.literal(condition))")
    }
    if isUnique { arguments.append("isUnique: true") }
    return SourceText.call("FetchIndexDescription", arguments, indentation: 0, shift: 6)
  }
}

extension FetchIndexDescription.Element {
  fileprivate var source: String {
    var arguments = [SourceText.literal(property)]
    if isExpression { arguments.append("isExpression: true") }
    if !isAscending { arguments.append("isAscending: false") }
    if kind != .binary { arguments.append("kind: .\(kind)") }
    return ".init(\(arguments.joined(separator: ", ")))"
  }
}

extension FetchedPropertyDescription {
  fileprivate var source: String {
    var arguments = ["name: \(SourceText.literal(name))"]
    if !isOptional { arguments.append("isOptional: false") }
    arguments.append("request: \(SourceText.call("FetchRequestTemplate", request, indentation: 2))")
    if let notes = ValueSource.notes(userInfo) { arguments.append("userInfo: \(notes)") }
    return SourceText.call("FetchedPropertyDescription", arguments, indentation: 0, shift: 6)
  }
}

extension SourceText {
  /// Returns a call that creates a fetch request template.
  static func call(
    _ function: String, _ template: FetchRequestTemplate, indentation: Int = 0
  ) -> String {
    var arguments = ["name: \(literal(template.name))", "entity: \(literal(template.entity))"]
    if let predicate = template.predicate { arguments.append("predicate: \(literal(predicate))") }
    if template.fetchLimit != 0 { arguments.append("fetchLimit: \(template.fetchLimit)") }
    if template.fetchBatchSize != 0 {
      arguments.append("fetchBatchSize: \(template.fetchBatchSize)")
    }
    if !template.includesSubentities { arguments.append("includesSubentities: false") }
    if !template.includesPendingChanges { arguments.append("includesPendingChanges: false") }
    if template.returnsDistinctResults { arguments.append("returnsDistinctResults: true") }
    if template.resultType != .objects { arguments.append("resultType: .\(template.resultType)") }
    return call(function, arguments, indentation: indentation, shift: 8)
  }
}
