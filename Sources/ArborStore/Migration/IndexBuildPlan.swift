internal import ArborModel
internal import LMDB

/// Which indexes of a newer model are filled in the transaction of a migration, and which behind
/// it.
struct IndexBuildPlan {
  typealias PartName = SchemaCatalog.PartName

  /// Filled in the transaction: no more objects than a batch has, or nobody else is on the file.
  private(set) var atOnce: Set<PartName> = []
  /// Emptied in the transaction, and filled in batches behind it.
  private(set) var later: Set<PartName> = []
  /// What the store says of its indexes after the transaction.
  private(set) var list: IndexBuildList

  /// - Parameters:
  ///   - present: What the store says of its indexes before the transaction.
  ///   - most: How many objects an index may cover that is filled in the transaction; nil for any
  ///     number.
  init(
    _ migration: LightweightMigration, _ parts: StoreParts, _ present: IndexBuildList,
    _ reader: TransactionReader, atMost most: Int?
  ) throws(StoreError) {
    let new = migration.new
    var builds: [IndexBuildList.Build] = []
    for entity in new.entities {
      for index in entity.indexes where index.declaringEntity == entity.index {
        let name = PartName(entity.name, index.name)
        let number = new.catalogNumber(of: index)
        var build: IndexBuildList.Build?
        if migration.indexes.built.contains(name) {
          build = IndexBuildList.Build(index: number)
        } else {
          // One that was not filled yet keeps its number with its database.
          build = present.build(of: number)
        }
        guard let build else { continue }
        if let most, try Self.objects(of: entity, migration, parts, reader) > most {
          if migration.indexes.built.contains(name) { later.insert(name) }
          builds.append(build)
        } else {
          atOnce.insert(name)
        }
      }
    }
    list = IndexBuildList(builds)
  }

  /// How many objects an entity of the newer model has.
  private static func objects(
    of entity: EntitySchema, _ migration: LightweightMigration, _ parts: StoreParts,
    _ reader: TransactionReader
  ) throws(StoreError) -> Int {
    let numbers = Set(entity.concreteFamily.map { migration.new.entities[$0].number })
    return try storing { () throws(LMDBError) in
      var count = 0
      for former in migration.old.entities
      where !former.isAbstract && numbers.contains(former.number) {
        count += try reader.entryCount(parts.databases.records(former.index))
      }
      return count
    }
  }
}
