import Foundation
import GRDB

/// The same cities in SQLite, read as GRDB's guides recommend.
struct GRDBCities: CityLists {
  private let pool: DatabasePool

  /// Opens the database, and fills it if it is empty.
  init(path: String, count: Int64) throws {
    pool = try DatabasePool(path: path)
    try pool.write { database in
      try database.create(table: "city", options: .ifNotExists) { table in
        table.primaryKey("geonameID", .integer)
        for name in ["name", "country", "timeZone"] { table.column(name, .text).notNull() }
        for name in ["latitude", "longitude"] { table.column(name, .double).notNull() }
        table.column("population", .integer).notNull()
      }
      guard try CityItem.fetchCount(database) == 0 else { return }
      for number in 1...count { try CityItem(number: number).insert(database) }
    }
  }

  func cities(after geonameID: Int64) async throws -> [CityItem] {
    try await pool.read { database in
      try CityItem.filter(Column("geonameID") > geonameID).order(Column("geonameID")).limit(20)
        .fetchAll(database)
    }
  }
}

extension CityItem: FetchableRecord, PersistableRecord {
  static var databaseTableName: String { "city" }
}
