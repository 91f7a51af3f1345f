/// The numbers of a store that is brought to another model.
///
/// What both models have keeps its number under its new name; what is new gets a number that was
/// never given out; what goes leaves its number behind under a name that no model can have, so that
/// it never comes back and no old object ID or record is taken for something else.
package struct CatalogEvolution: Sendable {
  /// What becomes of the records of an entity that both models have.
  package struct Entity: Sendable {
    package let oldName: String
    package let name: String
    package let number: UInt16
    /// Attributes and relationships of the newer model whose values no record has.
    package fileprivate(set) var added: Set<String> = []
    /// Of these the ones that every object needs a value of, and no default gives one.
    package fileprivate(set) var missing: [String] = []
    /// Attributes that are computed from others and stored, and whose values nothing has or some
    /// may have become others.
    package fileprivate(set) var computed: [String] = []
    /// Of the added ones those of a name that the older model has too, for something else.
    fileprivate var restarted: Set<String> = []
    /// Attributes that may no longer be nil, without a default, by the number of their field.
    package fileprivate(set) var required: [(name: String, number: UInt16)] = []
    /// The numbers of fields whose values are read as those of another kind.
    package fileprivate(set) var converted: Set<UInt16> = []
    /// The numbers of fields whose nil is read as the default.
    package fileprivate(set) var nilAsDefault: Set<UInt16> = []
    /// The relationships that stay: their names in the older model by those in the newer one.
    package fileprivate(set) var relationships: [String: String] = [:]
    /// The numbers of fields that come back, by the names of their properties.
    package fileprivate(set) var returned: [String: UInt16] = [:]
    /// The newest layout that has these fields, in which some records may be still.
    package fileprivate(set) var lastLayout: UInt16 = 0
    /// The numbers of fields that go.
    package fileprivate(set) var retired: Set<UInt16> = []
    /// Whether records are written in another layout from now on.
    package fileprivate(set) var hasNewLayout = false
  }

  /// An entity that only the older model has.
  package struct Removed: Sendable {
    package let name: String
    package let number: UInt16
    package let layoutNumber: UInt16
  }

  /// The newer model's catalogue.
  package private(set) var catalog = SchemaCatalog(entries: [:])
  /// In the order of the newer model.
  package private(set) var entities: [Entity] = []
  /// In the order of the older model.
  package private(set) var removed: [Removed] = []
  /// The names of entities that come back, with the objects that they had.
  package private(set) var returned: Set<String> = []

  /// Numbers the newer model of a difference.
  ///
  /// - Parameters:
  ///   - former: The older model's catalogue.
  ///   - origin: The catalogue that the newer model had in this store, from which the older one's
  ///     came: what it names has its number again.
  /// - Throws: ``ArborError`` `limitExceeded` where numbers run out.
  package init(
    _ difference: ModelDifference, from former: SchemaCatalog,
    returning origin: SchemaCatalog? = nil
  ) throws(ArborError) {
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

  /// Lists the stored derived attributes that may depend on attributes whose values change, as
  /// those that nobody computes.
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

  /// The numbers that the fields of one entity get.
  private struct FieldNumbers {
    let former: SchemaCatalog.Entry
    let origin: SchemaCatalog.Entry?
    var properties: [String: UInt16] = [:]
    /// The properties whose fields are new.
    var unnumbered: [String] = []
    var kept: Set<UInt16> = []

    /// Gives a property the number that its values have in the store, or had in the origin; where
    /// there is none, its field is new.
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

    /// Numbers new fields above all numbers that were ever given out.
    mutating func numberNewFields(of entity: String) throws(ArborError) {
      var greatest = former.properties.values.max() ?? 0
      for name in unnumbered {
        greatest = try CatalogEvolution.next(after: greatest, "properties of \(entity)")
        properties[name] = greatest
      }
    }

    /// Leaves the numbers that no property keeps under names that no model can have.
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

extension AttributeDescription {
  /// Whether each object has to be given a value.
  fileprivate var demandsValue: Bool { !isOptional && !isTransient && derivation == nil }
}

/// A property of the newer model, as the objects of one entity have it.
private struct EvolvedProperty {
  enum Kind {
    /// With the attribute of the older model whose values it keeps.
    case attribute(AttributeDescription?, AttributeDescription)
    case relationship(RelationshipDescription)
  }

  let kind: Kind
  /// The name in the older model of the field that it keeps.
  let formerName: String?
  /// Whether it keeps what the older model has, in a field or not.
  let isKept: Bool
  /// The name in the older model of the relationship that it was.
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

/// Which properties of entities keep fields.
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

  /// The properties of an entity, inherited ones included, from the root down.
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

  /// Whether an attribute's values are read from the field of another one.
  private func keeps(_ former: AttributeDescription, _ attribute: AttributeDescription) -> Bool {
    // What was in memory only has left nothing in the records.
    guard former.isTransient == attribute.isTransient else { return false }
    if case .composite(let before) = former.type, case .composite(let after) = attribute.type {
      return parts(before, of: difference.old) == parts(after, of: difference.new)
    }
    return attribute.isTransient
      ? FieldKind(former.type) == FieldKind(attribute.type)
      : ModelDifference.ValueConversion(from: former.type, to: attribute.type).isCertain
  }

  private func parts(_ name: String, of model: ManagedObjectModel) -> [AttributeDescription]? {
    model.composites.first { $0.name == name }?.attributes
  }
}
