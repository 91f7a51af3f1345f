package import CLMDB
package import Foundation

/// An LMDB environment of another program: in a folder, with keys of many kinds.
package struct ForeignFile {
  package let folder: URL
  package var data: URL { folder.appending(path: "data.mdb") }

  package enum Failure: Error { case code(Int32, at: String) }

  package init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "foreign-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try write { transaction in
      let main = try Self.open(transaction, nil, 0)
      try Self.put(transaction, main, Array("motto".utf8), Array("festina lente".utf8))
      let words = try Self.open(transaction, "words", MDB_CREATE)
      try Self.put(transaction, words, Array("apple".utf8), Array("Apfel\0".utf8))
      try Self.put(transaction, words, Array("bread".utf8), [0xFF, 0x00, 0x41])
      try Self.put(transaction, words, [0x80, 0x01], [])
      let numbers = try Self.open(transaction, "numbers", MDB_CREATE | MDB_INTEGERKEY)
      for number: UInt32 in [7, 300] {
        try Self.put(transaction, numbers, Self.bytes(number), Array("n\(number)".utf8))
      }
      let sets = try Self.open(
        transaction, "sets",
        MDB_CREATE | MDB_INTEGERKEY | MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP)
      for value: UInt64 in [30, 10, 20] {
        try Self.put(transaction, sets, Self.bytes(UInt64(5)), Self.bytes(value))
      }
    }
  }

  package func remove() { try? FileManager.default.removeItem(at: folder) }

  package func write(_ body: (OpaquePointer?) throws -> Void) throws {
    var environment: OpaquePointer?
    try Self.check(mdb_env_create(&environment), "create")
    defer { mdb_env_close(environment) }
    try Self.check(mdb_env_set_maxdbs(environment, 8), "maxdbs")
    try Self.check(mdb_env_open(environment, folder.path, 0, 0o600), "open")
    var transaction: OpaquePointer?
    try Self.check(mdb_txn_begin(environment, nil, 0, &transaction), "begin")
    try body(transaction)
    try Self.check(mdb_txn_commit(transaction), "commit")
  }

  package static func open(
    _ transaction: OpaquePointer?, _ name: String?, _ flags: Int32
  ) throws -> MDB_dbi {
    var database: MDB_dbi = 0
    try check(mdb_dbi_open(transaction, name, UInt32(flags), &database), "open \(name ?? "main")")
    return database
  }

  package static func put(
    _ transaction: OpaquePointer?, _ database: MDB_dbi, _ key: [UInt8], _ value: [UInt8]
  ) throws {
    var (key, value) = (key, value)
    try key.withUnsafeMutableBytes { key in
      try value.withUnsafeMutableBytes { value in
        var first = MDB_val(mv_size: key.count, mv_data: key.baseAddress)
        var second = MDB_val(mv_size: value.count, mv_data: value.baseAddress)
        try check(mdb_put(transaction, database, &first, &second, 0), "put")
      }
    }
  }

  package static func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    withUnsafeBytes(of: number) { Array($0) }
  }

  package static func check(_ code: Int32, _ call: String) throws {
    if code != MDB_SUCCESS { throw Failure.code(code, at: call) }
  }
}
