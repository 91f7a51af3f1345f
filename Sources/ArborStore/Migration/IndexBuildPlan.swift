internal import ArborModel
internal import LMDB

/// Decides which indexes of a newer model are filled in the transaction of a migration, and which
/// after it.
struct IndexBuildPlan {
  typealias PartName = SchemaCatalog.PartName

  /// The indexes that are filled in the transaction, because they have few objects, the file is not
  /// shared, or only the form of their numbers changes.
  private(set) var atOnce: Set<PartName> = []
  /// The indexes that are emptied in the transaction and filled in batches after it.
  private(set) var later: Set<PartName> = []
  /// The store's list of unfinished indexes after the transaction.
  private(set) var list: IndexBuildList

  /// - Parameters:
  ///   - present: The store's list of unfinished indexes before the transaction.
  ///   - most: The maximum number of objects of an index that is filled in the transaction, or
  ///     `nil` for no limit.
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
          // An unfinished index keeps its number and its database.
          build = present.build(of: number)
        }
        guard let build else { continue }
        let isReformed = migration.indexes.reformed.contains(name)
        if let most, !isReformed, try Self.objects(of: entity, migration, parts, reader) > most {
          if migration.indexes.built.contains(name) { later.insert(name) }
          builds.append(build)
        } else {
          atOnce.insert(name)
        }
      }
    }
    list = IndexBuildList(builds)
  }

  /// Returns the number of objects of an entity of the newer model.
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
