extension ModelRules {
  /// Checks the conditions of partial indexes. Their syntax and paths have already been checked
  /// like those of any predicate. In addition, whether an object is in an index must depend only on
  /// its own record.
  mutating func checkConditions() {
    for (index, entity) in model.entities.enumerated() {
      for (propertyIndex, fetchIndex) in entity.fetchIndexes.enumerated() {
        guard let text = fetchIndex.partialIndexPredicate,
          let node = try? FetchPredicate(format: text).parsed.outcome.get(),
          let flaw = flaw(ofCondition: node, in: index)
        else { continue }
        report(
          .index(index, propertyIndex),
          "Index \(fetchIndex.name) of \(entity.name) has the condition “\(text)”, which \(flaw). "
            + "Compare the object's own attributes with constants.")
      }
    }
    guard !findings.contains(where: { $0.severity == .problem }) else { return }
    bindConditions()
  }

  /// Binds the conditions as a store does, once there are no other problems. This finds operators
  /// that don't match their operands.
  private mutating func bindConditions() {
    guard
      model.entities.contains(where: { entity in
        entity.fetchIndexes.contains { $0.partialIndexPredicate != nil }
      }), let schema = try? ModelSchema(model, catalog: SchemaCatalog(numbering: model))
    else { return }
    for (index, entity) in model.entities.enumerated() {
      for (propertyIndex, fetchIndex) in entity.fetchIndexes.enumerated() {
        guard let text = fetchIndex.partialIndexPredicate else { continue }
        do throws(ArborError) {
          _ = try IndexCondition(text).bound(to: schema.entities[index], in: schema)
        } catch {
          report(
            .index(index, propertyIndex),
            "Index \(fetchIndex.name) of \(entity.name) has the condition “\(text)”: "
              + error.message, underlying: error)
        }
      }
    }
  }

  /// Returns the reason a condition depends on more than a record, as the end of a sentence, or
  /// `nil` if it doesn't.
  private func flaw(ofCondition node: PredicateNode, in entity: Int) -> String? {
    switch node {
    case .constant: return nil
    case .not(let node): return flaw(ofCondition: node, in: entity)
    case .and(let nodes), .or(let nodes):
      return nodes.lazy.compactMap { flaw(ofCondition: $0, in: entity) }.first
    case .comparison(let comparison):
      if comparison.qualifier != nil { return "reads other objects" }
      if comparison.options.contains(.localized) { return "depends on the locale" }
      if comparison.comparison == .matches { return "matches a regular expression" }
      if let path = comparison.pathToNil { return flaw(ofConditionPath: path, in: entity) }
      return flaw(ofSides: [comparison.left, comparison.right], in: entity)
    }
  }

  private func flaw(ofSides expressions: [ExpressionNode], in entity: Int) -> String? {
    expressions.lazy.compactMap { flaw(ofSide: $0, in: entity) }.first
  }

  private func flaw(ofSide expression: ExpressionNode, in entity: Int) -> String? {
    switch expression {
    case .constant(let value):
      return value.namesObjects
        ? "refers to an object of a particular store" : nil
    case .list(let elements): return flaw(ofSides: elements, in: entity)
    case .path(let path):
      return flaw(ofConditionPath: path, in: entity) ?? flaw(ofReading: path, in: entity)
    case .call(let function, let arguments, _):
      switch function {
      case .now: return "depends on the time"
      case .random, .randomn: return "is random"
      default: return flaw(ofSides: arguments, in: entity)
      }
    case .cast(let inner, _, _): return flaw(ofSide: inner, in: entity)
    case .ternary(let condition, let first, let second):
      return flaw(ofCondition: condition, in: entity) ?? flaw(ofSides: [first, second], in: entity)
    case .variable(let name, _): return "contains the variable $\(name)"
    case .argument: return "contains an argument"
    case .custom(_, let name, _, _): return "calls \(name), a registered function"
    case .member, .subquery, .element, .assignment:
      return "reads other objects"
    }
  }

  /// Returns the reason a value cannot be read from the record itself, or `nil` if it can. The
  /// record always indicates whether the value exists, but doesn't always contain it.
  private func flaw(ofReading path: KeyPathNode, in entity: Int) -> String? {
    guard case .name(let name, _)? = path.parts.first,
      case .attribute(let attribute)? = property(name, of: entity), attribute.mayLieOutside
    else { return nil }
    return "reads \(name), which may be stored outside the record"
  }

  /// Returns whether a path leads to a part of a JSON attribute.
  private func isPathIntoJSON(_ path: KeyPathNode, _ first: String, of entity: Int) -> Bool {
    guard case .attribute(let attribute)? = property(first, of: entity), attribute.type == .json
    else { return false }
    return path.parts.allSatisfy { if case .name = $0 { true } else { false } }
  }

  private func flaw(ofConditionPath path: KeyPathNode, in entity: Int) -> String? {
    guard case .name(let name, _)? = path.parts.first,
      path.parts.count == 1 || isPathIntoJSON(path, name, of: entity)
    else { return "reads other objects" }
    switch property(name, of: entity) {
    case .attribute(let attribute)?:
      return attribute.isTransient ? "names \(name), which is not stored" : nil
    case .relationship(let relationship)?:
      if relationship.isToMany { return "names \(name), a to-many relationship" }
      return relationship.isTransient ? "names \(name), which is not stored" : nil
    case .fetched?: return "names \(name), which is not stored"
    // Reported as an unresolved path, unless it is the object itself.
    case nil: return name == "objectID" || name == "entity" ? "names \(name)" : nil
    }
  }
}

extension PropertyValue {
  fileprivate var namesObjects: Bool {
    switch self {
    case .objectID: true
    case .list(let values): values.contains(where: \.namesObjects)
    default: false
    }
  }
}

extension PredicateComparison {
  /// The path that is compared with `nil`, or `nil` for any other comparison.
  fileprivate var pathToNil: KeyPathNode? {
    switch (left, right) {
    case (.path(let path), .constant(.null)), (.constant(.null), .path(let path)): path
    default: nil
    }
  }
}
