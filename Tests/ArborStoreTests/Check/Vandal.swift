import ArborModel
import ArborStore
import LMDB
import TestSupport

/// Writes to a store behind its back, keeping the header in step, so that the check finds what was
/// done and nothing else.
struct Vandal {
  let file: StoreFile

  func write(
    _ body: (borrowing WriteTransaction, inout HeaderRecord) throws -> Void
  ) throws {
    let arbor = file.databases.arbor
    try file.environment.write { transaction in
      var header = try StoreHeader.read(transaction.reader, arbor)
      header.transactionID = transaction.id
      try body(transaction, &header)
      try StoreHeader.write(header, arbor, in: transaction)
    }
  }

  func database(records entity: String) throws -> Database {
    file.databases.records(try Draft(file).entity(entity).index)
  }

  func index(_ entity: String, _ name: String) throws -> Database {
    guard let found = file.databases.index(try Draft(file).entity(entity).index, name) else {
      throw DraftError("\(entity).\(name)")
    }
    return found
  }

  func relationship(
    _ entity: String, _ name: String
  ) throws -> StoreDatabases.Relationship {
    let declaring = try Draft(file).entity(entity).index
    guard
      let found = file.databases.relationships.first(where: {
        $0.schema.declaringEntity == declaring && $0.schema.name == name
      })
    else { throw DraftError("\(entity).\(name)") }
    return found
  }
}
