/// Human-readable descriptions of differences.
extension ModelDifference: CustomStringConvertible {
  /// The changes, one per line.
  public var description: String { changes.map(\.description).joined(separator: "\n") }
}

extension ModelDifference.Change: CustomStringConvertible {
  /// `Entity.property: change, loss; rule (effort)`.
  public var description: String {
    let effort = effort.description
    return effort.isEmpty ? summary : "\(summary) (\(effort))"
  }

  /// The description without the effort, for lists grouped by effort.
  package var summary: String {
    var text = subject.map { "\($0): " } ?? ""
    text += kind.description
    if let loss { text += effort == .code ? ", without code \(loss)" : ", \(loss)" }
    if let rule { text += "; \(rule)" }
    return text
  }
}

extension ModelDifference.Kind: CustomStringConvertible {
  /// The change in human-readable form: `the type changes from integer32 to double`.
  public var description: String {
    switch self {
    case .entity(let change): change.description
    case .attribute(let change): change.description
    case .relationship(let change): change.description
    case .index(let change): change.description
    case .composite(let change): change.description
    case .model(let change): change.description
    }
  }
}

extension ModelDifference.Effort: CustomStringConvertible {
  /// `lightweight`, `builds an index`, `one pass over the objects` or `needs code`; empty if no
  /// stored data changes.
  public var description: String {
    switch self {
    case .none: ""
    case .catalog: "lightweight"
    case .indexBuild: "builds an index"
    case .pass: "one pass over the objects"
    case .code: "needs code"
    }
  }
}

extension ModelDifference.Loss: CustomStringConvertible {
  /// `its values are dropped`.
  public var description: String {
    switch kind {
    case .objects: "its objects are dropped"
    case .values: "its values are dropped"
    case .links: "its links are dropped"
    case .order: "its order is dropped"
    }
  }
}

extension ModelDifference.Rule: CustomStringConvertible {
  /// The objects that violate the rule: `existing objects without a value violate the rule`.
  public var description: String {
    let breaking =
      switch self {
      case .mandatory: "existing objects without a value"
      case .unique(let properties):
        "existing objects with the same \(properties.joined(separator: ", "))"
      case .minimumCount(let count): "existing objects with fewer than \(Self.members(count))"
      case .maximumCount(let count): "existing objects with more than \(Self.members(count))"
      case .bounds(let bounds): "existing values outside of \(bounds)"
      case .pattern(let pattern): "existing values that do not match \(pattern)"
      case .valuesFit(.json): "existing values that do not fit the structure"
      case .valuesFit(let type): "existing values that do not fit \(ModelJSON.text(of: type))"
      case .destination(let entity): "existing links to objects that don't belong to \(entity)"
      case .inverse(let inverse): "existing links without a counterpart in \(inverse)"
      case .noLongerKind(let entities):
        "relationships to \(entities.joined(separator: " or ")) that contain existing objects"
      }
    return "\(breaking) violate the rule"
  }

  private static func members(_ count: Int) -> String {
    count == 1 ? "1 member" : "\(count) members"
  }
}

extension ModelDifference.Bounds: CustomStringConvertible {
  /// `0 to 9`, `at least 0`, `at most 9` or `no bounds`.
  public var description: String {
    switch (minimum, maximum) {
    case (.null, .null): "no bounds"
    case (_, .null): "at least \(minimum)"
    case (.null, _): "at most \(maximum)"
    default: "\(minimum) to \(maximum)"
    }
  }
}

extension ModelDifference.Filling: CustomStringConvertible {
  /// `existing objects have nil`.
  public var description: String {
    switch self {
    case .null: "existing objects have nil"
    case .value(let value): "existing objects have \(value.quoted)"
    case .computed: "computed for existing objects"
    case .notStored: "not stored"
    case .missing: "mandatory without a default"
    }
  }
}

extension ModelDifference.EntityChange: CustomStringConvertible {
  /// The change in human-readable form: `renamed from Person`.
  public var description: String {
    switch self {
    case .added: "added"
    case .removed: "removed"
    case .renamed(let former): "renamed from \(former)"
    case .parentChanged(nil, let parent?): "inherits from \(parent)"
    case .parentChanged(let former?, nil): "no longer inherits from \(former)"
    case .parentChanged(let former, let parent): changing("the parent", former, parent)
    case .becameAbstract: "becomes abstract"
    case .becameConcrete: "becomes concrete"
    case .classNameChanged(let former, let name): changing("the class", former, name)
    case .versionHashModifierChanged(let former, let modifier):
      changing("the version hash modifier", former, modifier)
    case .fetchedPropertiesChanged: "the fetched properties change"
    case .userInfoChanged: "the user info changes"
    }
  }
}

extension ModelDifference.AttributeChange: CustomStringConvertible {
  /// The change in human-readable form: `the type changes from integer32 to double`.
  public var description: String {
    switch self {
    case .added(let filling): "added, \(filling)"
    case .removed(let entities): removal(keptIn: entities)
    case .renamed(let former): "renamed from \(former)"
    case .moved(let former): "moved from \(former)"
    case .spread(let filling): "added to more objects, \(filling)"
    case .inherited(let entity, let filling): "inherited from \(entity), \(filling)"
    case .disinherited(let entity): "no longer inherited from \(entity)"
    case .replacesRelationship(let former): "replaces the relationship \(former)"
    case .typeChanged(let former, let type, _):
      changing("the type", ModelJSON.text(of: former), ModelJSON.text(of: type))
    case .partChanged(let path, let change): "\(path.isEmpty ? "the value" : path) \(change)"
    case .transformerChanged(let former, let name):
      changing("the transformer", former.nonEmpty, name.nonEmpty)
    case .becameOptional: "becomes optional"
    case .becameMandatory(.value(let value)): "becomes mandatory, nil becomes \(value.quoted)"
    case .becameMandatory(.missing): "becomes mandatory without a default"
    case .becameMandatory: "becomes mandatory"
    case .defaultChanged(let former, let value):
      changing(
        "the default", former.isNull ? nil : former.quoted, value.isNull ? nil : value.quoted)
    case .derivationChanged(let former, let derivation):
      changing("the derivation", former, derivation)
    case .becameTransient: "becomes transient"
    case .becameStored(let filling): "becomes stored, \(filling)"
    case .externalStorageChanged(let isAllowed):
      isAllowed ? "large values may be stored outside records" : "all values are stored in records"
    case .boundsChanged(let former, let bounds): "the bounds change from \(former) to \(bounds)"
    case .patternChanged(let former, let pattern): changing("the pattern", former, pattern)
    case .valueClassNameChanged(let former, let name): changing("the value class", former, name)
    case .preservationChanged(let isPreserved):
      isPreserved
        ? "preserved in the history on deletion" : "no longer preserved in the history on deletion"
    case .versionHashModifierChanged(let former, let modifier):
      changing("the version hash modifier", former, modifier)
    case .userInfoChanged: "the user info changes"
    }
  }
}

extension JSONShape.Change: CustomStringConvertible {
  /// The change in human-readable form: `is added, a string`.
  public var description: String {
    switch self {
    case .added(let shape):
      "is added, \(shape.words)\(shape.isOptional ? " or missing" : "")"
    case .removed: "is no longer described, its values are kept"
    case .typeChanged(let former, let shape): "changes from \(former.words) to \(shape.words)"
    case .becameOptional: "becomes optional"
    case .becameMandatory: "becomes mandatory"
    }
  }
}

extension ModelDifference.RelationshipChange: CustomStringConvertible {
  /// The change in human-readable form: `becomes to-many`.
  public var description: String {
    switch self {
    case .added(let isOptional): isOptional ? "added" : "added, mandatory"
    case .removed(let entities): removal(keptIn: entities)
    case .renamed(let former): "renamed from \(former)"
    case .moved(let former): "moved from \(former)"
    case .spread(let isOptional):
      "added to more objects" + (isOptional ? "" : ", mandatory")
    case .inherited(let entity, let isOptional):
      "inherited from \(entity)" + (isOptional ? "" : ", mandatory")
    case .disinherited(let entity): "no longer inherited from \(entity)"
    case .replacesAttribute(let former): "replaces the attribute \(former)"
    case .becameToMany: "becomes to-many"
    case .becameToOne: "becomes to-one"
    case .becameOrdered: "becomes ordered"
    case .becameUnordered: "becomes unordered"
    case .inverseChanged(let former, let inverse): changing("the inverse", former, inverse)
    case .destinationChanged(let former, let entity): changing("the destination", former, entity)
    case .deleteRuleChanged(let former, let rule):
      changing("the delete rule", former.rawValue, rule.rawValue)
    case .becameOptional: "becomes optional"
    case .becameMandatory: "becomes mandatory"
    case .minimumCountChanged(let former, let count):
      "the minimum count changes from \(former) to \(count)"
    case .maximumCountChanged(let former, let count):
      changing("the maximum count", former.nonZero, count.nonZero)
    case .becameTransient: "becomes transient"
    case .becameStored: "becomes stored"
    case .versionHashModifierChanged(let former, let modifier):
      changing("the version hash modifier", former, modifier)
    case .userInfoChanged: "the user info changes"
    }
  }
}

extension ModelDifference.IndexChange: CustomStringConvertible {
  /// The change in human-readable form: `the index byName is added: (folded name)`.
  public var description: String {
    switch self {
    case .added(let index): "the index \(index.name) is added: \(index.summary)"
    case .removed(let name): "the index \(name) is removed"
    case .renamed(let name, let former): "the index \(name) is renamed from \(former)"
    case .changed(let former, let index):
      "the index \(index.name) changes from \(former.summary) to \(index.summary)"
    case .refilled(let name): "the index \(name) is rebuilt"
    case .uniquenessAdded(let properties): "\(list(properties)) becomes unique"
    case .uniquenessRemoved(let properties): "\(list(properties)) is no longer unique"
    case .uniquenessReordered(let former, let properties):
      "the unique \(list(former)) becomes \(list(properties))"
    }
  }
}

extension ModelDifference.CompositeChange: CustomStringConvertible {
  /// The change in human-readable form: `the composite type Address is added`.
  public var description: String {
    switch self {
    case .added(let name): "the composite type \(name) is added"
    case .removed(let name): "the composite type \(name) is removed"
    case .partAdded(let name, let part, let filling):
      "the part \(name).\(part) is added, \(filling)"
    case .partRemoved(let name, let part): "the part \(name).\(part) is removed"
    case .partRenamed(let name, let part, let former):
      "the part \(name).\(part) is renamed from \(name).\(former)"
    case .partTypeChanged(let name, let part, let former, let type, _):
      changing(
        "the type of the part \(name).\(part)", ModelJSON.text(of: former),
        ModelJSON.text(of: type))
    case .partDeclarationChanged(let name, let part):
      "the declaration of the part \(name).\(part) changes"
    }
  }
}

extension ModelDifference.ModelChange: CustomStringConvertible {
  /// The change in human-readable form: `the request all is removed`.
  public var description: String {
    switch self {
    case .versionIdentifierChanged(let former, let identifier):
      changing("the version identifier", former.nonEmpty, identifier.nonEmpty)
    case .configurationChanged(let name, let existence): "the configuration \(name) \(existence)"
    case .fetchRequestChanged(let name, let existence): "the request \(name) \(existence)"
    }
  }
}

extension ModelDifference.Existence: CustomStringConvertible {
  /// `is added`, `is removed` or `changes`.
  public var description: String {
    switch self {
    case .added: "is added"
    case .removed: "is removed"
    case .changed: "changes"
    }
  }
}

// MARK: Helpers

private func changing(_ what: String, _ former: String?, _ present: String?) -> String {
  switch (former, present) {
  case (nil, let present?): "\(what) is now \(present)"
  case (let former?, nil): "\(what) \(former) is removed"
  default: "\(what) changes from \(former ?? "none") to \(present ?? "none")"
  }
}

private func removal(keptIn entities: [String]) -> String {
  entities.isEmpty ? "removed" : "removed except in \(entities.joined(separator: ", "))"
}

private func list(_ properties: [String]) -> String { "(\(properties.joined(separator: ", ")))" }

extension PropertyValue {
  /// The value in human-readable form, with strings in quotation marks.
  fileprivate var quoted: String {
    if case .string(let text) = self { "\"\(text)\"" } else { description }
  }
}

extension String {
  fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}

extension Int {
  fileprivate var nonZero: String? { self == 0 ? nil : "\(self)" }
}
