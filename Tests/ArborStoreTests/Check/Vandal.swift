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
      try write(header, transaction)
    }
  }

  /// As it is told, where a file of its format has it.
  private func write(
    _ header: HeaderRecord, _ transaction: borrowing WriteTransaction
  ) throws {
    try Array(StoreFormat.headerKey.utf8).withUnsafeBytes { key in
      var place = Database.unnamed
      if header.majorVersion == 1 {
        _ = try transaction.delete(place, key: key)
        place = file.databases.arbor
      }
      try header.encoded().withUnsafeBytes { _ = try transaction.put(place, key: key, value: $0) }
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
