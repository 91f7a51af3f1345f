extension ModelRules {
  /// Checks derivations and the predicates of named requests, fetched properties and indexes.
  ///
  /// A request whose predicate uses a nonexistent property is only a warning: the rest of the model
  /// is usable, and executing the request throws.
  mutating func checkExpressions() {
    for (index, template) in model.fetchRequestTemplates.enumerated() {
      checkPredicate(
        template.predicate, on: template.entity, called: "Fetch request \(template.name)",
        at: .template(index), unknownNames: .warning)
    }
    for (index, entity) in model.entities.enumerated() {
      for (propertyIndex, property) in entity.fetchedProperties.enumerated() {
        checkPredicate(
          property.request.predicate, on: property.request.entity,
          called: "Fetched property \(entity.name).\(property.name)",
          at: .fetchedProperty(index, propertyIndex), unknownNames: .warning)
      }
      for (propertyIndex, fetchIndex) in entity.fetchIndexes.enumerated() {
        checkPredicate(
          fetchIndex.partialIndexPredicate, on: entity.name,
          called: "Index \(fetchIndex.name) of \(entity.name)", at: .index(index, propertyIndex),
          unknownNames: .problem)
      }
      for (propertyIndex, attribute) in entity.attributes.enumerated() {
        guard let derivation = attribute.derivation else { continue }
        if let (flaw, underlying) = flaw(ofDerivation: derivation, in: index) {
          report(
            .attribute(index, propertyIndex),
            "Attribute \(entity.name).\(attribute.name) is derived from “\(derivation)”: "
              + flaw, underlying: underlying)
        }
      }
    }
  }

  private mutating func checkPredicate(
    _ text: String?, on entity: String, called name: String, at subject: ModelSubject,
    unknownNames severity: ModelFinding.Severity
  ) {
    guard let text, let entity = entityIndex[entity] else { return }
    do throws(ArborError) {
      let predicate = try FetchPredicate(format: text)
      guard case .success(let node) = try predicate.parsed.outcome else { return }
      for path in KeyPathNode.all(in: node) {
        if let flaw = flaw(ofPath: path, in: entity) {
          report(
            subject, "\(name) has a predicate that names \(path.joined(separator: ".")): \(flaw)",
            severity: severity)
        }
      }
    } catch {
      let propertyIndex = error.location.map { " at line \($0.line), column \($0.column)" } ?? ""
      report(
        subject, "\(name) has a malformed predicate\(propertyIndex): \(error.message)",
        underlying: error)
    }
  }

  /// Returns the first name of a path in a predicate that is not a property of the entity.
  ///
  /// - Returns: The name, or `nil` if there isn't one or the text is not a valid predicate.
  package func unknownProperty(ofPredicate text: String, on entity: Int) -> String? {
    guard let node = try? FetchPredicate(format: text).parsed.outcome.get() else { return nil }
    return KeyPathNode.all(in: node).lazy.compactMap(\.first).first { name in
      !name.hasPrefix("@") && name != "objectID" && name != "entity"
        && property(name, of: entity) == nil
    }
  }

  // MARK: Derivations

  /// Returns the problem with the syntax or the paths of a derivation, or `nil`. The type of the
  /// derivation is checked only if there are no other problems; see ``bindDerivations()``.
  private mutating func flaw(ofDerivation text: String, in entity: Int) -> (String, ArborError?)? {
    do throws(ArborError) {
      let expression = try PredicateParser.column(text).expression
      for path in KeyPathNode.all(in: expression) {
        if let flaw = flaw(ofPath: path, in: entity) { return (flaw, nil) }
      }
      return nil
    } catch {
      return (error.message, error)
    }
  }

  /// Binds the derivations as a store does.
  mutating func bindDerivations() {
    guard !findings.contains(where: { $0.severity == .problem }),
      model.entities.contains(where: { $0.attributes.contains { $0.derivation != nil } }),
      let schema = try? ModelSchema(model, catalog: SchemaCatalog(numbering: model))
    else { return }
    for (index, entity) in model.entities.enumerated() {
      for (propertyIndex, attribute) in entity.attributes.enumerated() {
        guard let text = attribute.derivation,
          case .attribute(let bound)? = schema.entities[index].property(named: attribute.name)
        else { continue }
        do throws(ArborError) {
          _ = try Derivation(bound, text, of: schema.entities[index], in: schema)
        } catch {
          report(
            .attribute(index, propertyIndex),
            "Attribute \(entity.name).\(attribute.name) is derived from “\(text)”: "
              + error.message, underlying: error)
        }
      }
    }
  }

  // MARK: Paths

  /// Returns the problem with a path of names, or `nil`. Skips operators.
  private mutating func flaw(ofPath names: [String], in entity: Int) -> String? {
    var current = entity
    for (propertyIndex, name) in names.enumerated() where !name.hasPrefix("@") {
      let isLast = propertyIndex == names.count - 1
      let here = model.entities[current].name
      switch property(name, of: current) {
      case .relationship(let relationship)?:
        // An unknown destination is reported as a problem of the relationship.
        guard let next = entityIndex[relationship.destination] else { return nil }
        current = next
      case .attribute(let attribute)?:
        if isLast { return nil }
        if case .composite = attribute.type { return nil }
        if attribute.type == .json { return nil }
        return "\(here).\(name) is an attribute, so the path must end there."
      case .fetched?: return nil
      case nil:
        if name == "objectID" || name == "entity" { return nil }
        return "\(name) is not a property of \(here). Correct the name."
          + hint(name) { $0.propertyNames(of: current) }
      }
    }
    return nil
  }
}

extension KeyPathNode {
  /// Returns the names of all paths in a tree.
  fileprivate static func all(in node: PredicateNode) -> [[String]] {
    var found: [[String]] = []
    node.forEachSide { found += all(in: $0) }
    return found
  }

  fileprivate static func all(in expression: ExpressionNode) -> [[String]] {
    if case .path(let path) = expression { return [path.names] }
    var found: [[String]] = []
    expression.forEachChild { found += all(in: $0) }
    // Names in a subquery's condition belong to its members.
    if case .ternary(let condition, _, _) = expression { found += all(in: condition) }
    return found
  }
}
