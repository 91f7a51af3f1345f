// grdb-import FILE: the document FILE.json, by JSONDecoder and GRDB's `save`, into FILE. Prints the
// seconds and the number of items.
import Foundation
import GRDB

struct OfficeItem: Codable, PersistableRecord {
  static let databaseTableName = "office"
  let officeID: Int64
  let name: String
}

struct StaffItem: Decodable {
  let staffID: Int64
  let name: String
  let email: String
  let age: Int
  let salary: Double
  let active: Bool
  let hiredAt: Date
  let office: OfficeItem
  let manager: Int64?
}

struct StaffRecord: Encodable, PersistableRecord {
  static let databaseTableName = "staff"
  let staffID: Int64
  let name: String
  let email: String
  let age: Int
  let salary: Double
  let active: Bool
  let hiredAt: Date
  let officeID: Int64
  let managerID: Int64?
}

let path = CommandLine.arguments[1]
var configuration = Configuration()
configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
let pool = try DatabasePool(path: path, configuration: configuration)
try pool.write { database in
  try database.create(table: "office") {
    $0.primaryKey("officeID", .integer)
    $0.column("name", .text).notNull()
  }
  try database.create(table: "staff") {
    $0.primaryKey("staffID", .integer)
    $0.column("name", .text).notNull()
    $0.column("email", .text).notNull()
    $0.column("age", .integer).notNull().indexed()
    $0.column("salary", .double).notNull()
    $0.column("active", .boolean).notNull()
    $0.column("hiredAt", .datetime).indexed()
    $0.column("officeID", .integer).references("office").indexed()
    $0.column("managerID", .integer).references("staff").indexed()
  }
}
let start = ContinuousClock.now
let decoder = JSONDecoder()
decoder.dateDecodingStrategy = .iso8601
let data = try Data(contentsOf: URL(fileURLWithPath: path + ".json"))
let items = try decoder.decode([StaffItem].self, from: data)
try pool.write { database in
  for item in items {
    try item.office.save(database)
    try StaffRecord(
      staffID: item.staffID, name: item.name, email: item.email, age: item.age,
      salary: item.salary, active: item.active, hiredAt: item.hiredAt,
      officeID: item.office.officeID, managerID: item.manager
    ).save(database)
  }
}
print((ContinuousClock.now - start) / .seconds(1), items.count)
