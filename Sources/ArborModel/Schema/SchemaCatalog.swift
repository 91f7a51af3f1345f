/// The numbers that a store has given to entities, properties and indexes, never used twice, and
/// the names that their databases were born with.
///
/// Layouts and checksums name entities and properties by these numbers, so that a renamed entity or
/// attribute keeps its records; a renamed entity, relationship or index keeps its databases. What a
/// migration has removed stays under a name that no model can have, for the sake of its number.
package struct SchemaCatalog: Sendable, Hashable {
  package struct Entry: Sendable, Hashable {
    package var number: UInt16
    /// The number of the layout that new records of the entity are written in, from 1.
    package var layoutNumber: UInt16
    /// The numbers of the entity's attributes and to-one relationships, by name.
    package var properties: [String: UInt16]
    /// What the databases of the entity's records and large binaries are called in the file; empty
    /// where none exist or nothing has named them yet.
    package var storedName = ""
    /// The to-many relationships that the entity declares, hidden inverses included, by name.
    package var relationships: [String: StoredPart] = [:]
    /// The indexes that the entity declares, by name.
    package var indexes: [String: StoredPart] = [:]

    package init(number: UInt16, layoutNumber: UInt16, properties: [String: UInt16]) {
      self.number = number
      self.layoutNumber = layoutNumber
      self.properties = properties
    }

    /// Numbers for the properties of an entity that a store did not have, inherited ones included:
    /// everything in the order of the model, from 1.
    init(numbering entity: EntityDescription, in model: ManagedObjectModel, number: UInt16) {
      var properties: [String: UInt16] = [:]
      for ancestor in model.lineage(of: entity).reversed() {
        let names =
          ancestor.attributes.map(\.name)
          + ancestor.relationships.filter { !$0.isToMany }.map(\.name)
        for name in names { properties[name] = UInt16(properties.count + 1) }
      }
      self.init(number: number, layoutNumber: 1, properties: properties)
    }
  }

  /// A to-many relationship or an index, with databases of its own.
  package struct StoredPart: Sendable, Hashable {
    /// Of all relationships, or all indexes, that the store has ever had.
    package var number: UInt16
    /// What its databases are called in the file; empty where they are gone.
    package var storedName: String

    package init(number: UInt16, storedName: String) {
      self.number = number
      self.storedName = storedName
    }
  }

  package var entries: [String: Entry]

  package init(entries: [String: Entry]) { self.entries = entries }

  /// Numbers for a new store: everything in the order of the model, from 1.
  package init(numbering model: ManagedObjectModel) {
    entries = [:]
    for (position, entity) in model.entities.enumerated() {
      entries[entity.name] = Entry(numbering: entity, in: model, number: UInt16(position + 1))
    }
  }

  // MARK: Retired numbers

  /// No name of a model begins with a control character.
  private static let retiredMark: Character = "\u{1}"

  /// The name of what is no longer there; with the number, since a name may be removed again.
  package static func retiredName(_ name: String, _ number: UInt16) -> String {
    "\(retiredMark)\(number) \(name)"
  }

  /// Whether a name is one of ``retiredName(_:_:)``.
  package static func isRetired(_ name: String) -> Bool { name.first == retiredMark }
}

extension ManagedObjectModel {
  /// An entity and its ancestors, the entity first. Ends at an unknown parent and at a cycle.
  package func lineage(of entity: EntityDescription) -> [EntityDescription] {
    var lineage = [entity]
    while let parentName = lineage.last?.parent, let parent = self.entity(named: parentName),
      !lineage.contains(where: { $0.name == parent.name })
    {
      lineage.append(parent)
    }
    return lineage
  }
}
