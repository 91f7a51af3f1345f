/// The validation rules for models. All of them are checked, and all problems are reported
/// together.
///
/// Names are looked up in precomputed tables, so a check takes time linear in the size of the
/// model, including inherited properties; ``checkSize()`` bounds that size. Each mistake is
/// reported only once: nothing that depends on an unresolved name is checked.
package struct ModelRules {
  package let model: ManagedObjectModel
  /// The index of the first entity with each name.
  package let entityIndex: [String: Int]
  /// Each entity followed by its ancestors. The list ends before an unknown parent, before a cycle
  /// closes, or one ancestor after ``maximumAncestors``.
  package let lineages: [[Int]]
  package let ownProperties: [[String: Property]]
  let composites: Set<String>
  private(set) var findings: [ModelFinding] = []
  private var hintCount = 0
  /// Whether an inheritance chain that is too long has been reported.
  var hasReportedDepth = false

  package enum Property {
    case attribute(AttributeDescription)
    case relationship(RelationshipDescription)
    case fetched
  }

  /// Returns the findings in a model, in the order of the rules.
  package static func findings(in model: ManagedObjectModel) -> [ModelFinding] {
    guard model.entities.count <= Int(UInt16.max) else {
      return [
        ModelFinding(
          severity: .problem, subject: .model,
          error: ArborError(
            .invalidModel,
            "The model has \(model.entities.count) entities, which exceeds the limit of "
              + "\(UInt16.max). Split the model."))
      ]
    }
    var rules = ModelRules(model)
    guard rules.checkSize() else { return rules.findings }
    rules.checkEntities()
    rules.checkPropertyNames()
    rules.checkComposites()
    rules.checkAttributes()
    rules.checkRelationships()
    rules.checkIndexes()
    rules.checkTemplates()
    rules.checkConfigurations()
    rules.checkExpressions()
    rules.checkConditions()
    rules.bindDerivations()
    return rules.findings
  }

  package init(_ model: ManagedObjectModel) {
    self.model = model
    let entityIndex = Dictionary(
      model.entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    self.entityIndex = entityIndex
    lineages = model.entities.indices.map { start in
      var lineage = [start]
      while let parent = model.entities[lineage[lineage.count - 1]].parent,
        let next = entityIndex[parent], lineage.count <= Self.maximumAncestors + 1,
        !lineage.contains(next)
      {
        lineage.append(next)
      }
      return lineage
    }
    ownProperties = model.entities.map { entity in
      var properties: [String: Property] = [:]
      for property in entity.fetchedProperties { properties[property.name] = .fetched }
      for property in entity.relationships { properties[property.name] = .relationship(property) }
      for property in entity.attributes { properties[property.name] = .attribute(property) }
      return properties
    }
    composites = Set(model.composites.map(\.name))
  }

  // MARK: Reports

  mutating func report(
    _ subject: ModelSubject, _ message: String, severity: ModelFinding.Severity = .problem,
    underlying: ArborError? = nil
  ) {
    let (entity, property) = names(of: subject)
    let error = ArborError(.invalidModel, message)
      .with(entity: entity, keyPath: property, underlying: underlying)
    findings.append(ModelFinding(severity: severity, subject: subject, error: error))
  }

  mutating func warn(_ subject: ModelSubject, _ message: String) {
    report(subject, message, severity: .warning)
  }

  private func names(of subject: ModelSubject) -> (entity: String?, property: String?) {
    let entities = model.entities
    return switch subject {
    case .model, .configuration: (nil, nil)
    case .entity(let entity), .constraint(let entity, _): (entities[entity].name, nil)
    case .attribute(let entity, let propertyIndex):
      (entities[entity].name, entities[entity].attributes[propertyIndex].name)
    case .relationship(let entity, let propertyIndex):
      (entities[entity].name, entities[entity].relationships[propertyIndex].name)
    case .fetchedProperty(let entity, let propertyIndex):
      (entities[entity].name, entities[entity].fetchedProperties[propertyIndex].name)
    case .index(let entity, let propertyIndex):
      (entities[entity].name, entities[entity].fetchIndexes[propertyIndex].name)
    case .template(let propertyIndex): (model.fetchRequestTemplates[propertyIndex].entity, nil)
    case .composite(let propertyIndex): (model.composites[propertyIndex].name, nil)
    case .part(let composite, let propertyIndex):
      (model.composites[composite].name, model.composites[composite].attributes[propertyIndex].name)
    }
  }

  // MARK: Names

  package func property(_ name: String, of entity: Int) -> Property? {
    lineages[entity].lazy.compactMap { ownProperties[$0][name] }.first
  }

  package func relationship(_ name: String, of entity: Int) -> RelationshipDescription? {
    guard case .relationship(let relationship)? = property(name, of: entity) else { return nil }
    return relationship
  }

  func propertyNames(of entity: Int) -> [String] {
    lineages[entity].flatMap { ancestor in
      let entity = model.entities[ancestor]
      return entity.attributes.map(\.name) + entity.relationships.map(\.name)
    }
  }

  mutating func entityHint(_ unknown: String) -> String {
    hint(unknown) { $0.model.entities.map(\.name) }
  }

  /// Returns a sentence that suggests the nearest name, but only for the first problems of a model:
  /// each suggestion compares all names, and thousands of problems usually have a single cause.
  mutating func hint(_ unknown: String, in names: (ModelRules) -> [String]) -> String {
    hintCount += 1
    return hintCount <= Self.maximumHints ? NearestName.hint(unknown, in: names(self)) : ""
  }

  private static let maximumHints = 100

  /// Returns the reason a name is invalid, or `nil` if it is valid. Names of entities and
  /// properties are parts of database names, object IDs and key paths.
  static func flaw(ofName name: String) -> String? {
    guard let first = name.unicodeScalars.first else { return "has no name. Name it" }
    guard first == "_" || first.properties.isXIDStart else {
      return "has a name that doesn't begin with a letter. Rename it"
    }
    guard name.unicodeScalars.allSatisfy(\.properties.isXIDContinue) else {
      return "has a name with characters other than letters, digits and _. Rename it"
    }
    guard name.utf8.count <= maximumNameLength else {
      return "has a name longer than \(maximumNameLength) bytes. Shorten it"
    }
    return nil
  }

  /// The maximum length of a name in UTF-8 bytes. A database name consists of a prefix and two
  /// names, and the storage engine limits it to 511 bytes.
  static let maximumNameLength = 200
}

extension ManagedObjectModel {
  /// Validates the model against all rules, and converts default values to their attributes' types.
  ///
  /// Models from files, from the builder and from stores have already been validated.
  ///
  /// - Returns: The model, with converted default values. For example, `0` for a `double` attribute
  ///   becomes `0.0`.
  /// - Throws: ``ArborError`` `invalidModel` with one violation per problem, each naming the entity
  ///   and the property.
  @discardableResult
  public func validated() throws(ArborError) -> ManagedObjectModel {
    let problems = ModelRules.findings(in: self).filter { $0.severity == .problem }
    guard problems.isEmpty else { throw .invalidModel(problems.map(\.error)) }
    return withFittingValues()
  }

  /// Returns the model with default values and bounds converted to their attributes' types.
  package func withFittingValues() -> ManagedObjectModel {
    var model = self
    for index in model.entities.indices {
      // Assigned to the entity only once, because each assignment searches all attributes for
      // marks.
      var attributes = model.entities[index].attributes
      for slot in attributes.indices { attributes[slot].fitValues() }
      model.entities[index].attributes = attributes
    }
    for index in model.composites.indices {
      for slot in model.composites[index].attributes.indices {
        model.composites[index].attributes[slot].fitValues()
      }
    }
    return model
  }
}

extension AttributeDescription {
  fileprivate mutating func fitValues() {
    defaultValue = type.fitting(defaultValue) ?? defaultValue
    // The bounds of a string are lengths.
    let boundType = type == .string ? .integer64 : type
    minimum = boundType.fitting(minimum) ?? minimum
    maximum = boundType.fitting(maximum) ?? maximum
  }
}

extension ArborError {
  /// Returns an error that contains the problems of a model as violations.
  package static func invalidModel(
    _ problems: [ArborError], of total: Int? = nil, in source: String? = nil
  ) -> ArborError {
    let model = source.map { "The model \($0)" } ?? "The model"
    let total = total ?? problems.count
    let count = total == 1 ? "1 problem" : "\(total) problems"
    let advice = total == 1 ? "Correct it." : "Correct each of them."
    let listed = total > problems.count ? ", the first \(problems.count) of which are listed" : ""
    var error = ArborError(
      .invalidModel, "\(model) has \(count)\(listed). \(advice)")
    error.violations = problems
    return error
  }
}
