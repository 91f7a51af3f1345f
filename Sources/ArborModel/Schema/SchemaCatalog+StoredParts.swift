/// Numbers and stored names of the parts that have databases.
extension SchemaCatalog {
  /// A to-many relationship or an index, identified by name and declaring entity.
  package struct PartName: Sendable, Hashable {
    package let entity: String
    package let name: String

    package init(_ entity: String, _ name: String) {
      self.entity = entity
      self.name = name
    }
  }

  package typealias Parts = WritableKeyPath<Entry, [String: StoredPart]>

  /// Returns the catalog with a number and a stored name for each entity, to-many relationship
  /// and index.
  ///
  /// The stored name is the name in the model, followed by the number if another part was created
  /// with that name. The result depends on the names in the model, not on their order.
  ///
  /// - Throws: ``ArborError`` `limitExceeded` if no numbers are left.
  package func completed(for entities: [EntitySchema]) throws(ArborError) -> SchemaCatalog {
    // When an existing store is opened, nothing is missing.
    guard entities.contains(where: isIncomplete) else { return self }
    var catalog = self
    var relationships = Completion(entries.values.lazy.flatMap(\.relationships.values))
    var indexes = Completion(entries.values.lazy.flatMap(\.indexes.values))
    var names = Set(entries.values.lazy.map(\.storedName))
    for entity in entities.sorted(by: { $0.number < $1.number }) {
      guard var entry = catalog.entries[entity.name] else { continue }
      if entry.storedName.isEmpty {
        entry.storedName = Self.name(entity.name, entity.number, &names)
      }
      try relationships.complete(&entry.relationships, entity.name, entity.declaredLists)
      try indexes.complete(&entry.indexes, entity.name, entity.declaredIndexes)
      catalog.entries[entity.name] = entry
    }
    return catalog
  }

  private func isIncomplete(_ entity: EntitySchema) -> Bool {
    guard let entry = entries[entity.name] else { return false }
    return entry.storedName.isEmpty
      || entity.declaredLists.contains { entry.relationships[$0] == nil }
      || entity.declaredIndexes.contains { entry.indexes[$0] == nil }
  }

  /// The maximum length of a stored name. With a prefix, it fits into a key of the engine.
  private static let maximumNameLength = 480

  fileprivate static func name(
    _ wanted: String, _ number: UInt16, _ names: inout Set<String>
  ) -> String {
    // Names in a model never contain `#`, and numbers are never reused.
    let isFree = wanted.utf8.count <= maximumNameLength && !names.contains(wanted)
    let name = isFree ? wanted : "\(wanted.utf8.count <= maximumNameLength ? wanted : "")#\(number)"
    names.insert(name)
    return name
  }

  /// The assignment of numbers and names to parts of one kind.
  private struct Completion {
    private var greatest: UInt16 = 0
    private var names: Set<String> = []

    init(_ present: some Sequence<StoredPart>) {
      for part in present {
        greatest = max(greatest, part.number)
        names.insert(part.storedName)
      }
    }

    mutating func complete(
      _ parts: inout [String: StoredPart], _ entity: String, _ wanted: [String]
    ) throws(ArborError) {
      for name in wanted.sorted() where parts[name] == nil {
        guard greatest < .max else {
          throw ArborError(
            .limitExceeded,
            "The store has used all \(UInt16.max) numbers for relationships and indexes. Export "
              + "its data into a new store.")
        }
        greatest += 1
        parts[name] = StoredPart(
          number: greatest, storedName: SchemaCatalog.name("\(entity)/\(name)", greatest, &names))
      }
    }
  }

  // MARK: Migrating to a new model

  /// Copies the numbers and stored names of parts of the older model to the corresponding parts of
  /// the newer one.
  ///
  /// - Parameter carried: The names in the older model, by name in the newer one.
  package mutating func carry(
    _ carried: [PartName: PartName], _ parts: Parts, from former: SchemaCatalog
  ) {
    for (name, source) in carried {
      guard let part = former.entries[source.entity]?[keyPath: parts][source.name] else { continue }
      entries[name.entity]?[keyPath: parts][name.name] = part
    }
  }

  /// Copies the parts that exist only in the older catalog, under names that are invalid in
  /// models. Their numbers stay reserved, and they keep their stored names while the databases
  /// exist.
  package mutating func retire(_ parts: Parts, of former: SchemaCatalog) {
    let kept = Set(entries.values.lazy.flatMap { $0[keyPath: parts].values }.map(\.number))
    let names = Dictionary(
      entries.lazy.map { ($0.value.number, $0.key) }, uniquingKeysWith: { first, _ in first })
    for entry in former.entries.values {
      guard let owner = names[entry.number] else { continue }
      for (name, part) in entry[keyPath: parts] where !kept.contains(part.number) {
        let retired = Self.isRetired(name) ? name : Self.retiredName(name, part.number)
        entries[owner]?[keyPath: parts][retired] = part
      }
    }
  }

  /// The catalog after the databases of retired parts have been removed.
  package var withoutRetiredDatabases: SchemaCatalog {
    var catalog = withoutRetiredIndexes
    for (name, var entry) in catalog.entries {
      if Self.isRetired(name) { entry.storedName = "" }
      for name in entry.relationships.keys where Self.isRetired(name) {
        entry.relationships[name]?.storedName = ""
      }
      catalog.entries[name] = entry
    }
    return catalog
  }

  /// The catalog after the databases of retired indexes have been removed.
  package var withoutRetiredIndexes: SchemaCatalog {
    var catalog = self
    for (name, var entry) in entries {
      for name in entry.indexes.keys where Self.isRetired(name) {
        entry.indexes[name]?.storedName = ""
      }
      catalog.entries[name] = entry
    }
    return catalog
  }

  /// Returns the catalog with the numbers that exist only in a later one added as retired. The
  /// databases of those parts no longer exist.
  package func retiring(_ later: SchemaCatalog) -> SchemaCatalog {
    var catalog = self
    let names = Dictionary(
      entries.map { ($0.value.number, $0.key) }, uniquingKeysWith: { one, _ in one })
    for (name, entry) in later.entries {
      guard let own = names[entry.number], var kept = catalog.entries[own] else {
        let retired = Self.isRetired(name) ? name : Self.retiredName(name, entry.number)
        catalog.entries[retired] = Entry(number: entry.number, layoutNumber: 1, properties: [:])
        continue
      }
      let numbers = Set(kept.properties.values)
      for (name, number) in entry.properties where !numbers.contains(number) {
        kept.properties[Self.isRetired(name) ? name : Self.retiredName(name, number)] = number
      }
      catalog.entries[own] = kept
    }
    catalog.retire(\.relationships, of: later)
    catalog.retire(\.indexes, of: later)
    return catalog.withoutRetiredDatabases
  }
}

extension EntitySchema {
  /// The names of the to-many relationships that the entity itself declares.
  fileprivate var declaredLists: [String] {
    relationships.filter { $0.isToMany && $0.declaringEntity == index }.map(\.name)
  }

  /// The names of the indexes that the entity itself declares.
  fileprivate var declaredIndexes: [String] {
    indexes.filter { $0.declaringEntity == index }.map(\.name)
  }
}
