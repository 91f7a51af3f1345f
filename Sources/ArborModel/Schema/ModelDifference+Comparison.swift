/// Compares two models part by part.
struct ModelComparison {
  typealias Effect = ModelDifference.Change.Effect

  let old: ManagedObjectModel
  let new: ManagedObjectModel
  private(set) var changes: [ModelDifference.Change] = []
  /// The new name of each entity that stays.
  private var newNames: [String: String] = [:]
  private var entity: String?
  private var property: String?

  init(old: ManagedObjectModel, new: ManagedObjectModel) {
    self.old = old
    self.new = new
  }

  mutating func compare() {
    let pairs = Self.pair(old.entities, new.entities, \.name, \.renamingIdentifier)
    for case (let before?, let after?) in pairs { newNames[before.name] = after.name }
    for (before, after) in pairs {
      entity = after?.name ?? before?.name
      switch (before, after) {
      case (let before?, let after?): compare(before, after)
      case (nil, _?): note("the entity is new", .lightweight)
      default: note("the entity is gone, its objects are deleted", .lightweight)
      }
    }
    entity = nil
    compareComposites()
    compare("the version identifier", old.versionIdentifier, new.versionIdentifier, .none)
    compare("configurations", old.configurations, new.configurations, .none)
    compare("named requests", old.fetchRequestTemplates, new.fetchRequestTemplates, .none)
  }

  mutating func note(_ summary: String, _ effect: Effect) {
    changes.append(.init(entity: entity, property: property, summary: summary, effect: effect))
  }

  private mutating func compare<Part: Equatable>(
    _ what: String, _ before: Part, _ after: Part, _ effect: Effect
  ) {
    if before != after { note("\(what) changed", effect) }
  }

  private mutating func compareText(
    _ what: String, _ before: String?, _ after: String?, _ effect: Effect
  ) {
    guard before != after else { return }
    switch (before, after) {
    case (nil, let after?): note("\(what) is now \(after)", effect)
    case (let before?, nil): note("\(what) was \(before) and is none now", effect)
    default: note("\(what) changes from \(before ?? "") to \(after ?? "")", effect)
    }
  }

  private mutating func compareFlag(
    _ before: Bool, _ after: Bool, on: String, off: String, _ effect: Effect
  ) {
    if before != after { note(after ? on : off, effect) }
  }

  /// Pairs what has one name, or had the name by its renaming identifier; the rest stays single.
  private static func pair<Part>(
    _ old: [Part], _ new: [Part], _ name: (Part) -> String, _ formerName: (Part) -> String?
  ) -> [(Part?, Part?)] {
    var before = Dictionary(
      old.enumerated().map { (name($1), $0) }, uniquingKeysWith: { first, _ in first })
    let newNames = Set(new.map(name))
    var pairs: [(Part?, Part?)] = []
    for part in new {
      if let place = before.removeValue(forKey: name(part)) {
        pairs.append((old[place], part))
      } else if let former = formerName(part), !newNames.contains(former),
        let place = before.removeValue(forKey: former)
      {
        pairs.append((old[place], part))
      } else {
        pairs.append((nil, part))
      }
    }
    return pairs + before.values.sorted().map { (old[$0], nil) }
  }

  // MARK: Entities

  private mutating func compare(_ before: EntityDescription, _ after: EntityDescription) {
    compareText("its name", before.name, after.name, .lightweight)
    compareText("its parent", before.parent.map { newNames[$0] ?? $0 }, after.parent, .custom)
    // An abstract entity has no objects; where there were some they would have no entity.
    compareFlag(
      before.isAbstract, after.isAbstract, on: "it becomes abstract", off: "it becomes concrete",
      after.isAbstract ? .custom : .lightweight)
    compareText(
      "its version hash modifier", before.versionHashModifier, after.versionHashModifier, .custom)
    compareText("its class", before.className, after.className, .none)
    compare("its user info", before.userInfo, after.userInfo, .none)
    compare("fetched properties", before.fetchedProperties, after.fetchedProperties, .none)
    for (old, new) in Self.pair(
      before.attributes, after.attributes, \.name, \.renamingIdentifier)
    {
      property = new?.name ?? old?.name
      switch (old, new) {
      case (let old?, let new?): compare(old, new)
      case (nil, let new?): noteAddition(of: new)
      default: note("the attribute is gone", .lightweight)
      }
    }
    for (old, new) in Self.pair(
      before.relationships, after.relationships, \.name, \.renamingIdentifier)
    {
      property = new?.name ?? old?.name
      switch (old, new) {
      case (let old?, let new?): compare(old, new)
      case (nil, _?): note("the relationship is new", .lightweight)
      default: note("the relationship is gone, its links are dropped", .lightweight)
      }
    }
    property = nil
    compareIndexes(before, after)
    let constraints = Set(before.uniquenessConstraints.map(Set.init))
    for constraint in after.uniquenessConstraints where !constraints.contains(Set(constraint)) {
      note(
        "(\(constraint.joined(separator: ", "))) becomes unique, which present objects have to be",
        .lightweight)
    }
    let kept = Set(after.uniquenessConstraints.map(Set.init))
    for constraint in before.uniquenessConstraints where !kept.contains(Set(constraint)) {
      note("(\(constraint.joined(separator: ", "))) need not be unique any more", .lightweight)
    }
  }

  private mutating func compareComposites() {
    let pairs = Self.pair(old.composites, new.composites, \.name, { _ in nil })
    for (before, after) in pairs {
      entity = after?.name ?? before?.name
      switch (before, after) {
      case (let before?, let after?):
        compare("its parts", Self.parts(of: before), Self.parts(of: after), .custom)
      case (nil, _?): note("the composite type is new", .lightweight)
      default: note("the composite type is gone", .lightweight)
      }
    }
    entity = nil
  }

  private static func parts(of composite: CompositeDescription) -> [String: AttributeType] {
    Dictionary(
      composite.attributes.map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
  }

  // MARK: Properties

  private mutating func noteAddition(of attribute: AttributeDescription) {
    let isFilled =
      attribute.isOptional || attribute.isTransient || attribute.derivation != nil
      || !attribute.defaultValue.isNull
    note(
      isFilled
        ? "the attribute is new"
        : "the attribute is new, mandatory and without a default for present objects",
      isFilled ? .lightweight : .custom)
  }

  private mutating func compare(_ before: AttributeDescription, _ after: AttributeDescription) {
    compareText("its name", before.name, after.name, .lightweight)
    if before.type != after.type {
      compareText(
        "its type", ModelJSON.text(of: before.type), ModelJSON.text(of: after.type),
        before.type.widens(to: after.type) ? .lightweight : .custom)
    }
    let isFilled = after.isOptional || !after.defaultValue.isNull
    compareFlag(
      before.isOptional, after.isOptional, on: "it becomes optional",
      off: isFilled
        ? "it becomes mandatory"
        : "it becomes mandatory without a default for present objects",
      isFilled ? .lightweight : .custom)
    compareFlag(
      before.isTransient, after.isTransient, on: "it is stored no more", off: "it becomes stored",
      .lightweight)
    compareFlag(
      before.allowsExternalStorage, after.allowsExternalStorage,
      on: "large values may lie outside the record", off: "values always lie in the record",
      .lightweight)
    compareText("its derivation", before.derivation, after.derivation, .lightweight)
    compareText(
      "its version hash modifier", before.versionHashModifier, after.versionHashModifier, .custom)
    compare("its default", before.defaultValue, after.defaultValue, .none)
    compare(
      "its bounds", [before.minimum, before.maximum], [after.minimum, after.maximum], .none)
    compareText("its pattern", before.regularExpression, after.regularExpression, .none)
    compareText("its value class", before.valueClassName, after.valueClassName, .none)
    compare("its user info", before.userInfo, after.userInfo, .none)
    compareFlag(
      before.isPreservedOnDeletion, after.isPreservedOnDeletion,
      on: "it is kept in the history of deletions", off: "it is kept there no more", .none)
  }

  private mutating func compare(
    _ before: RelationshipDescription, _ after: RelationshipDescription
  ) {
    compareText("its name", before.name, after.name, .lightweight)
    compareText(
      "its destination", newNames[before.destination] ?? before.destination, after.destination,
      .custom)
    compareText(
      "its inverse", before.inverse.map { newName(ofInverse: $0, of: after) }, after.inverse,
      .lightweight)
    // One link is also a list of one; of several nothing says which to keep.
    compareFlag(
      before.isToMany, after.isToMany, on: "it becomes to-many", off: "it becomes to-one",
      after.isToMany ? .lightweight : .custom)
    compareFlag(
      before.isOrdered, after.isOrdered, on: "it becomes ordered", off: "it loses its order",
      .lightweight)
    compareFlag(
      before.isTransient, after.isTransient, on: "it is stored no more", off: "it becomes stored",
      .lightweight)
    compareText(
      "its version hash modifier", before.versionHashModifier, after.versionHashModifier, .custom)
    compareText(
      "its delete rule", before.deleteRule.rawValue, after.deleteRule.rawValue, .none)
    compareFlag(
      before.isOptional, after.isOptional, on: "it becomes optional", off: "it becomes mandatory",
      .none)
    compare(
      "its counts", [before.minimumCount, before.maximumCount],
      [after.minimumCount, after.maximumCount], .none)
    compare("its user info", before.userInfo, after.userInfo, .none)
  }

  /// The name an inverse has now: its own, unless the relationship back was renamed from it.
  private func newName(
    ofInverse name: String, of relationship: RelationshipDescription
  ) -> String {
    guard let inverse = relationship.inverse,
      let destination = new.entity(named: relationship.destination)
    else { return name }
    let back = new.lineage(of: destination).flatMap(\.relationships)
      .first { $0.name == inverse }
    return back?.renamingIdentifier == name ? inverse : name
  }
}

extension AttributeType {
  /// Whether every value of this type is, in one obvious way, a value of the other.
  fileprivate func widens(to other: AttributeType) -> Bool {
    switch (self, other) {
    case (.integer16, .integer32), (.integer16, .integer64), (.integer32, .integer64),
      (.integer16, .float), (.integer16, .double), (.integer32, .double), (.float, .double),
      (.integer16, .decimal), (.integer32, .decimal), (.integer64, .decimal),
      (.boolean, .integer16), (.boolean, .integer32), (.boolean, .integer64),
      (.uuid, .string), (.uri, .string), (_, .undefined), (.transformable, .binary):
      true
    case (.composite, .composite): true
    default: false
    }
  }
}
