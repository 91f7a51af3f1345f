/// The numbering of a store's entities and properties when it is migrated to another model.
///
/// Parts in both models keep their numbers under their new names. New parts get numbers that have
/// never been used. The numbers of removed parts are retired under names that are invalid in
/// models, so that they are never reused and old object IDs and records are never misinterpreted.
package struct CatalogEvolution: Sendable {
  /// The changes to the records of an entity that exists in both models.
  package struct Entity: Sendable {
    package let oldName: String
    package let name: String
    package let number: UInt16
    /// The attributes and relationships of the newer model for which existing records have no
    /// values.
    package fileprivate(set) var added: Set<String> = []
    /// The added properties that require a value and have no default value.
    package fileprivate(set) var missing: [String] = []
    /// The stored derived attributes whose values are missing or may have changed.
    package fileprivate(set) var computed: [String] = []
    /// The added properties that have the name of an unrelated property in the older model.
    fileprivate var restarted: Set<String> = []
    /// The attributes that became mandatory without a default value, by field number.
    package fileprivate(set) var required: [(name: String, number: UInt16)] = []
    /// The numbers of fields whose values are converted to another kind when they are read.
    package fileprivate(set) var converted: Set<UInt16> = []
    /// The numbers of fields whose `nil` is read as the default value.
    package fileprivate(set) var nilAsDefault: Set<UInt16> = []
    /// The names of kept relationships: the newer name for each older name.
    package fileprivate(set) var relationships: [String: String] = [:]
    /// The numbers of restored fields, by property name.
    package fileprivate(set) var returned: [String: UInt16] = [:]
    /// The number of the newest layout that contains the restored fields. Some records may still
    /// use it.
    package fileprivate(set) var lastLayout: UInt16 = 0
    /// The numbers of removed fields.
    package fileprivate(set) var retired: Set<UInt16> = []
    /// Whether new records use another layout.
    package fileprivate(set) var hasNewLayout = false
  }

  /// An entity that exists only in the older model.
  package struct Removed: Sendable {
    package let name: String
    package let number: UInt16
    package let layoutNumber: UInt16
  }

  package private(set) var catalog = SchemaCatalog(entries: [:])
  /// The entities in both models, in the order of the newer model.
  package private(set) var entities: [Entity] = []
  /// The removed entities, in the order of the older model.
  package private(set) var removed: [Removed] = []
  /// The names of restored entities, whose objects still exist.
  package private(set) var returned: Set<String> = []

  /// Assigns numbers to the parts of a difference's newer model.
  ///
  /// - Parameters:
  ///   - former: The older model's catalog.
  ///   - origin: The catalog that the newer model had in this store before the older one, or `nil`
  ///     if it didn't have one. Its numbers are restored.
  /// - Throws: ``ArborError`` `limitExceeded` if no numbers are left.
  package init(
    _ difference: ModelDifference, from former: SchemaCatalog,
    returning origin: SchemaCatalog? = nil
  ) throws(ArborError) {
    catalog.seed = former.seed
    let numbering = PropertyNumbering(difference)
    for (name, entry) in former.entries where SchemaCatalog.isRetired(name) {
      catalog.entries[name] = entry
    }
    for (index, entity) in difference.old.entities.enumerated()
    where difference.pairing.entities.newOf[index] == nil {
      guard let entry = former.entries[entity.name] else { continue }
      var retired = SchemaCatalog.Entry(number: entry.number, layoutNumber: 1, properties: [:])
      retired.storedName = entry.storedName
      catalog.entries[SchemaCatalog.retiredName(entity.name, entry.number)] = retired
      removed.append(
        Removed(name: entity.name, number: entry.number, layoutNumber: entry.layoutNumber))
    }
    var greatest = former.entries.values.map(\.number).max() ?? 0
    for (index, entity) in difference.new.entities.enumerated() {
      guard let pair = numbering.relatives[index],
        let entry = former.entries[difference.old.entities[pair.old].name]
      else {
        if let before = origin?.entries[entity.name],
          catalog.entries.removeValue(
            forKey: SchemaCatalog.retiredName(entity.name, before.number)) != nil
        {
          catalog.entries[entity.name] = before
          returned.insert(entity.name)
          continue
        }
        greatest = try Self.next(after: greatest, "entities")
        catalog.entries[entity.name] = SchemaCatalog.Entry(
          numbering: entity, in: difference.new, number: greatest)
        continue
      }
      try add(entity, pair, entry, numbering, origin?.entries[entity.name])
    }
    noteStaleDerivations(numbering)
  }

  /// Adds to each entity's computed attributes the stored derived ones that may depend on
  /// attributes whose values change.
  private mutating func noteStaleDerivations(_ numbering: PropertyNumbering) {
    let revalued = entities.reduce(into: Set<String>()) { names, plan in
      guard let entry = catalog.entries[plan.name] else { return }
      let numbers = plan.converted.union(plan.nilAsDefault)
      names.formUnion(entry.properties.lazy.filter { numbers.contains($0.value) }.map(\.key))
      names.formUnion(plan.restarted)
    }
    guard !revalued.isEmpty else { return }
    for index in entities.indices {
      guard let position = numbering.new.indexByName[entities[index].name] else { continue }
      for owner in numbering.new.lineage(of: position) {
        for attribute in numbering.new.entities[owner].attributes where !attribute.isTransient {
          guard let derivation = attribute.derivation,
            !entities[index].computed.contains(attribute.name)
          else { continue }
          let words = derivation.split { !($0.isLetter || $0.isNumber || $0 == "_") }
          if words.contains(where: { revalued.contains(String($0)) }) {
            entities[index].computed.append(attribute.name)
          }
        }
      }
    }
  }

  private mutating func add(
    _ entity: EntityDescription, _ pair: EntityPairing.Relatives, _ former: SchemaCatalog.Entry,
    _ numbering: PropertyNumbering, _ origin: SchemaCatalog.Entry?
  ) throws(ArborError) {
    var plan = Entity(
      oldName: numbering.old.entities[pair.old].name, name: entity.name, number: former.number)
    var numbers = FieldNumbers(former: former, origin: origin)
    for property in numbering.properties(of: pair) {
      if case .relationship(let relationship) = property.kind, let former = property.relationship {
        plan.relationships[relationship.name] = former
      }
      numbers.keepNumber(of: property, &plan)
    }
    try numbers.numberNewFields(of: entity.name)
    numbers.retireOthers(&plan)
    let hadRecords = !numbering.old.entities[pair.old].isAbstract && !entity.isAbstract
    plan.hasNewLayout =
      hadRecords
      && !(numbers.unnumbered.isEmpty && plan.returned.isEmpty && plan.retired.isEmpty
        && plan.converted.isEmpty && plan.nilAsDefault.isEmpty)
    plan.lastLayout = origin?.layoutNumber ?? 0
    let layout =
      plan.hasNewLayout
      ? try Self.next(after: former.layoutNumber, "layouts of \(entity.name)") : former.layoutNumber
    var entry = SchemaCatalog.Entry(
      number: former.number, layoutNumber: layout, properties: numbers.properties)
    entry.storedName = former.storedName
    catalog.entries[entity.name] = entry
    entities.append(plan)
  }

  /// The assignment of numbers to the fields of one entity.
  private struct FieldNumbers {
    let former: SchemaCatalog.Entry
    let origin: SchemaCatalog.Entry?
    var properties: [String: UInt16] = [:]
    /// The properties that need a new number.
    var unnumbered: [String] = []
    var kept: Set<UInt16> = []

    /// Keeps the field number of a property whose values are in the store or were in the origin.
    /// Any other property is marked for a new number.
    mutating func keepNumber(of property: EvolvedProperty, _ plan: inout Entity) {
      if let source = property.formerName, let number = former.properties[source],
        kept.insert(number).inserted
      {
        properties[property.name] = number
        plan.note(property, keeping: number)
        return
      }
      if property.hasField {
        if let number = origin?.properties[property.name],
          former.properties[SchemaCatalog.retiredName(property.name, number)] == number
        {
          properties[property.name] = number
          kept.insert(number)
          plan.returned[property.name] = number
        } else {
          unnumbered.append(property.name)
        }
      }
      guard !property.isKept else { return }
      plan.noteAddition(of: property)
      if former.properties[property.name] != nil { plan.restarted.insert(property.name) }
    }

    /// Assigns numbers to new fields, starting after the greatest number ever used.
    mutating func numberNewFields(of entity: String) throws(ArborError) {
      var greatest = former.properties.values.max() ?? 0
      for name in unnumbered {
        greatest = try CatalogEvolution.next(after: greatest, "properties of \(entity)")
        properties[name] = greatest
      }
    }

    /// Retires the numbers that aren't kept: assigns them to names that are invalid in models.
    mutating func retireOthers(_ plan: inout Entity) {
      for (name, number) in former.properties where !kept.contains(number) {
        guard !SchemaCatalog.isRetired(name) else {
          properties[name] = number
          continue
        }
        plan.retired.insert(number)
        properties[SchemaCatalog.retiredName(name, number)] = number
      }
    }
  }

  private static func next(after number: UInt16, _ what: String) throws(ArborError) -> UInt16 {
    guard number < .max else {
      throw ArborError(
        .limitExceeded,
        "The store has used all \(UInt16.max) numbers for \(what). Export its data into a new "
          + "store.")
    }
    return number + 1
  }
}

extension CatalogEvolution.Entity {
  fileprivate mutating func note(_ property: EvolvedProperty, keeping number: UInt16) {
    guard case .attribute(let old?, let new) = property.kind else { return }
    if FieldKind(old.type) != FieldKind(new.type) { converted.insert(number) }
    guard old.isOptional, new.demandsValue else { return }
    if new.defaultValue.isNull {
      required.append((new.name, number))
    } else {
      nilAsDefault.insert(number)
    }
  }

  fileprivate mutating func noteAddition(of property: EvolvedProperty) {
    added.insert(property.name)
    switch property.kind {
    case .attribute(_, let attribute):
      if attribute.derivation != nil, !attribute.isTransient { computed.append(attribute.name) }
      if attribute.demandsValue, attribute.defaultValue.isNull { missing.append(attribute.name) }
    case .relationship(let relationship):
      let isRequired =
        !relationship.isOptional && !relationship.isTransient
        && (!relationship.isToMany || relationship.minimumCount > 0)
      if isRequired { missing.append(relationship.name) }
    }
  }
}

/// A property of the newer model, for the objects of one entity.
private struct EvolvedProperty {
  enum Kind {
    /// An attribute, preceded by the attribute of the older model whose values it keeps, or `nil`.
    case attribute(AttributeDescription?, AttributeDescription)
    case relationship(RelationshipDescription)
  }

  let kind: Kind
  /// The name that the kept field had in the older model, or `nil` if no field is kept.
  let formerName: String?
  /// Whether stored data of the older model is kept, in the same field or elsewhere.
  let isKept: Bool
  /// The name that a kept relationship had in the older model, or `nil` for any other property.
  var relationship: String?

  var name: String {
    switch kind {
    case .attribute(_, let attribute): attribute.name
    case .relationship(let relationship): relationship.name
    }
  }

  var hasField: Bool {
    if case .relationship(let relationship) = kind { !relationship.isToMany } else { true }
  }
}

/// The properties of entities in the newer model, and which of them keep their fields.
private struct PropertyNumbering {
  let old: EntityTree
  let new: EntityTree
  let relatives: [Int: EntityPairing.Relatives]
  private let difference: ModelDifference

  init(_ difference: ModelDifference) {
    self.difference = difference
    old = EntityTree(difference.old)
    new = EntityTree(difference.new)
    relatives = Dictionary(
      uniqueKeysWithValues: difference.pairing.entities.relatives(old, new).map { ($0.new, $0) })
  }

  /// Returns the properties of an entity, including inherited ones, from the root down.
  func properties(of pair: EntityPairing.Relatives) -> [EvolvedProperty] {
    let pairing = difference.pairing
    var properties: [EvolvedProperty] = []
    for owner in pair.newLineage.reversed() {
      for (slot, attribute) in new.entities[owner].attributes.enumerated() {
        let source = pairing.attributes.source(
          of: PropertySlot(entity: owner, slot: slot), for: pair, pairing.entities)
        let former = source.map(old.attribute).flatMap { keeps($0, attribute) ? $0 : nil }
        properties.append(
          EvolvedProperty(
            kind: .attribute(former, attribute), formerName: former?.name, isKept: former != nil))
      }
      for (slot, relationship) in new.entities[owner].relationships.enumerated() {
        let source = pairing.relationships.source(
          of: PropertySlot(entity: owner, slot: slot), for: pair, pairing.entities)
        let former = source.map(old.relationship)
        let keepsField = former.map { !$0.isToMany && !relationship.isToMany } ?? false
        properties.append(
          EvolvedProperty(
            kind: .relationship(relationship), formerName: keepsField ? former?.name : nil,
            isKept: former != nil, relationship: former?.name))
      }
    }
    return properties
  }

  /// Returns whether an attribute keeps the field, and with it the values, of an attribute of the
  /// older model.
  private func keeps(_ former: AttributeDescription, _ attribute: AttributeDescription) -> Bool {
    // A transient attribute has no stored values.
    guard former.isTransient == attribute.isTransient else { return false }
    if case .composite(let before) = former.type, case .composite(let after) = attribute.type {
      return CompositeConversion(from: before, of: difference.old, to: after, of: difference.new)?
        .isIdentity ?? false
    }
    return attribute.isTransient
      ? FieldKind(former.type) == FieldKind(attribute.type)
      : ModelDifference.ValueConversion(from: former.type, to: attribute.type).isCertain
  }
}
