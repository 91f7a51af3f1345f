/// The numbers that a store has assigned to entities, properties and indexes, which are never
/// reused, and the original names of their databases.
///
/// Layouts and checksums identify entities and properties by these numbers, so that a renamed
/// entity or attribute keeps its records. A renamed entity, relationship or index keeps its
/// databases. Parts that a migration removed remain under a name that is invalid in models, so that
/// their numbers stay reserved.
package struct SchemaCatalog: Sendable, Hashable {
  package struct Entry: Sendable, Hashable {
    package var number: UInt16
    /// The number of the layout for new records of the entity, counting from 1.
    package var layoutNumber: UInt16
    /// The numbers of the entity's attributes and to-one relationships, by name.
    package var properties: [String: UInt16]
    /// The name of the databases of the entity's records and large binaries in the file, or empty
    /// if they don't exist or haven't been named yet.
    package var storedName = ""
    /// The to-many relationships that the entity declares, including hidden inverses, by name.
    package var relationships: [String: StoredPart] = [:]
    /// The indexes that the entity declares, by name.
    package var indexes: [String: StoredPart] = [:]

    package init(number: UInt16, layoutNumber: UInt16, properties: [String: UInt16]) {
      self.number = number
      self.layoutNumber = layoutNumber
      self.properties = properties
    }

    /// Numbers the properties of a new entity, including inherited ones, in the order of the model,
    /// starting at 1.
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

  /// A to-many relationship or an index, which has databases of its own.
  package struct StoredPart: Sendable, Hashable {
    /// The part's number among all relationships, or among all indexes, that the store has ever
    /// had.
    package var number: UInt16
    /// The name of its databases in the file, or empty if they were removed.
    package var storedName: String

    package init(number: UInt16, storedName: String) {
      self.number = number
      self.storedName = storedName
    }
  }

  package var entries: [String: Entry]
  /// The number that all checksums of the store's records are XORed with, by which records of
  /// another store are recognized. It is chosen at random when the store is created, and never
  /// changes, neither in copies nor by a salvage. It is 0 for schemas without a store.
  package var seed: UInt32

  package init(entries: [String: Entry], seed: UInt32 = 0) {
    self.entries = entries
    self.seed = seed
  }

  /// Creates the catalog of a new store. Everything is numbered in the order of the model,
  /// starting at 1.
  package init(numbering model: ManagedObjectModel, seed: UInt32 = 0) {
    entries = [:]
    self.seed = seed
    for (position, entity) in model.entities.enumerated() {
      entries[entity.name] = Entry(numbering: entity, in: model, number: UInt16(position + 1))
    }
  }

  // MARK: Retired numbers

  /// The first character of retired names. Names in a model never begin with it.
  private static let retiredMark: Character = "\u{1}"

  /// Returns the name of a removed part. Includes the number, because a name can be removed
  /// repeatedly.
  package static func retiredName(_ name: String, _ number: UInt16) -> String {
    "\(retiredMark)\(number) \(name)"
  }

  /// Returns whether a name was created by ``retiredName(_:_:)``.
  package static func isRetired(_ name: String) -> Bool { name.first == retiredMark }
}

extension ManagedObjectModel {
  /// Returns an entity followed by its ancestors. Stops at an unknown parent and at a cycle.
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
