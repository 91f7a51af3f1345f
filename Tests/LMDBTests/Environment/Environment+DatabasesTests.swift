import Foundation
import Testing
import LMDB

@Suite struct EnvironmentDatabasesTests {
  private struct Stop: Error {}
  private let folder: TemporaryFolder
  private let environment: Environment

  init() throws {
    folder = try TemporaryFolder()
    environment = try folder.environment()
  }

  @Test("Databases are opened, created and listed by name")
  func opensCreatesAndListsByName() throws {
    #expect(try environment.openDatabase("a", [], create: false) == nil)
    #expect(try environment.openDatabase("a") == nil)
    let one = try #require(try environment.openDatabase("a", [], create: true))
    #expect(try environment.openDatabase("a", [], create: false) == one)
    #expect(try environment.openDatabase("a", [], create: true) == one)
    let names = ["b", "i/Person/name", "Ünïcode", "z"]
    try environment.write { transaction in
      let opened = try transaction.createDatabases(names.map { ($0, .integerSets) })
      #expect(opened.map(\.name) == names)
    }
    #expect(try environment.databaseNames() == ["a", "b", "i/Person/name", "z", "Ünïcode"])
    #expect(try environment.openDatabase("z")?.flags == .integerSets)
    #expect(try environment.mainDatabase().flags == [])
    #expect(try environment.statistics(of: environment.mainDatabase()).entries == 5)
  }

  @Test("Opening a database with other flags is refused")
  func refusesOtherFlags() throws {
    _ = try environment.openDatabase("a", .integerKey, create: true)
    #expect(throws: LMDBError.incompatible) {
      try environment.openDatabase("a", .integerSets, create: true)
    }
    try environment.close()
    let again = try folder.environment { $0.create = false }
    #expect(throws: LMDBError.incompatible) { try again.openDatabase("a", [], create: false) }
    #expect(try again.openDatabase("a", .integerKey, create: false) != nil)
  }

  @Test("Databases created by an aborted transaction don't exist")
  func forgetsWhatAnAbortedTransactionOpened() throws {
    #expect(throws: Stop.self) {
      try environment.write { transaction in
        let database = try transaction.createDatabase("a", [])
        try transaction.put(database, [1], [1])
        throw Stop()
      }
    }
    #expect(try environment.openDatabase("a", [], create: false) == nil)
    // The handle is reused for a database with another name and other flags.
    let other = try #require(try environment.openDatabase("b", .integerSets, create: true))
    let again = try #require(try environment.openDatabase("a", [], create: true))
    try environment.write { transaction in
      try transaction.put(again, [1], [1])
      try transaction.put(other, [1], UInt64(2).nativeBytes)
    }
    #expect(try environment.value(again, [1]) == [1])
    #expect(try environment.value(other, [1]) == UInt64(2).nativeBytes)
  }

  @Test("Several threads can create databases")
  func opensManyFromManyThreads() throws {
    DispatchQueue.concurrentPerform(iterations: 4) { worker in
      for index in 0..<50 {
        do {
          let name = "d\((index * 7 + worker) % 60)"
          let database = try #require(try environment.openDatabase(name, [], create: true))
          try environment.write { try $0.put(database, Array(name), Array(name)) }
          #expect(try environment.value(database, Array(name)) == Array(name))
        } catch {
          Issue.record(error)
        }
      }
    }
    for name in try environment.databaseNames() {
      let database = try #require(try environment.openDatabase(name))
      #expect(try environment.statistics(of: database).entries == 1)
      #expect(try environment.value(database, Array(name)) == Array(name))
    }
  }

  @Test("A database that one thread has opened can immediately be read by other threads")
  func opensExistingOnesFromManyThreads() throws {
    let names = (0..<40).map { "d\($0)" }
    try environment.write { transaction in
      for database in try transaction.createDatabases(names.map { ($0, []) }) {
        try transaction.put(database, [1], Array(database.name))
      }
    }
    for _ in 0..<5 {
      try folder.environment().close()
      let again = try folder.environment { $0.create = false }
      DispatchQueue.concurrentPerform(iterations: 4) { worker in
        for name in worker < 2 ? names : names.reversed() {
          do {
            let database = try #require(try again.openDatabase(name, [], create: false))
            #expect(try again.value(database, [1]) == Array(name))
          } catch {
            Issue.record(error)
          }
        }
      }
    }
  }

  @Test("Several databases can be opened at once")
  func opensSeveralAtOnce() throws {
    try environment.write { transaction in
      _ = try transaction.createDatabases([("a", []), ("b", .integerKey)])
    }
    try environment.close()
    let again = try folder.environment { $0.create = false }
    for _ in 0..<2 {
      let found = try again.openDatabases([("b", .integerKey), ("missing", []), ("a", [])])
      #expect(found.map { $0?.name } == ["b", nil, "a"])
    }
    #expect(throws: LMDBError.incompatible) {
      try again.openDatabases([("a", []), ("b", .integerSets)])
    }
  }

  @Test("Too many databases are reported")
  func saysWhenThereIsNoRoomForMore() throws {
    let small = try folder.environment("small.arbor") { $0.additionalDatabases = 3 }
    for name in ["a", "b", "c"] { _ = try small.openDatabase(name, [], create: true) }
    #expect(throws: LMDBError.dbsFull) { try small.openDatabase("d", [], create: true) }
    #expect(try small.databaseNames() == ["a", "b", "c"])
    try small.close()

    let again = try folder.environment("small.arbor") { $0.additionalDatabases = 1 }
    for name in ["d", "a", "b", "c"] { _ = try again.openDatabase(name, [], create: true) }
    #expect(throws: LMDBError.dbsFull) { try again.openDatabase("e", [], create: true) }
  }

  @Test("A deleted database is gone, and its handle can be reused")
  func deletesADatabaseForGood() throws {
    let a = try #require(try environment.openDatabase("a", [], create: true))
    let b = try #require(try environment.openDatabase("b", .integerSets, create: true))
    try environment.write { transaction in
      try transaction.put(a, [1], [1])
      try transaction.put(b, [1], UInt64(1).nativeBytes)
    }
    // Leaves a cached cursor, which must not be renewed for the next owner of the handle.
    try environment.read { transaction in
      let cursor = try transaction.cursor(a)
      _ = try cursor.first()
    }
    try environment.write { try $0.deleteDatabase(a) }
    #expect(try environment.databaseNames() == ["b"])
    let c = try #require(try environment.openDatabase("c", .integerSets, create: true))
    #expect(c.handle == a.handle)
    try environment.write { try $0.put(c, [9], UInt64(9).nativeBytes) }
    try environment.read { transaction in
      let cursor = try transaction.cursor(c)
      let entry = try cursor.first()
      #expect(entry?.integerValue == 9)
      let count = try cursor.valueCount()
      #expect(count == 1)
    }
    #expect(try environment.value(b, [1]) == UInt64(1).nativeBytes)
  }

  @Test("Aborting a transaction restores deleted databases")
  func takesADeletionBackWithItsTransaction() throws {
    let a = try #require(try environment.openDatabase("a", [], create: true))
    let b = try #require(try environment.openDatabase("b", .integerSets, create: true))
    try environment.write { transaction in
      try transaction.put(a, [1], [1])
      try transaction.put(b, [1], UInt64(1).nativeBytes)
    }
    #expect(throws: Stop.self) {
      try environment.write { transaction in
        try transaction.deleteDatabase(a)
        try transaction.deleteDatabase(b)
        let other = try transaction.createDatabase("a", .integerKey)
        try transaction.put(other, UInt64(1).nativeBytes, [2])
        let temporary = try transaction.createDatabase("temporary", [])
        try transaction.deleteDatabase(temporary)
        throw Stop()
      }
    }
    #expect(try environment.openDatabase("a") == a)
    #expect(try environment.openDatabase("b") == b)
    #expect(try environment.value(a, [1]) == [1])
    #expect(try environment.value(b, [1]) == UInt64(1).nativeBytes)
  }

  @Test("A deletion succeeds if its transaction has to rerun in a larger map")
  func deletesWhileTheMapGrows() throws {
    let small = try folder.environment("small.arbor", mapSize: 1 << 16)
    let a = try #require(try small.openDatabase("a", [], create: true))
    try small.write { try $0.put(a, [1], [1]) }
    var runs = 0
    let new = try small.write { transaction in
      runs += 1
      #expect(try transaction.bytes(a, [1]) == [1])
      try transaction.deleteDatabase(a)
      let new = try transaction.createDatabase("a", .integerKey)
      try transaction.put(new, UInt64(1).nativeBytes, [UInt8](repeating: 2, count: 300_000))
      return new
    }
    #expect(runs > 1)
    #expect(try small.value(new, UInt64(1).nativeBytes)?.count == 300_000)
    #expect(try small.openDatabase("a") == new)
  }

  @Test("Deleting a database created in the same transaction doesn't block readers")
  func opensTheGateAfterADeletionOfItsOwn() throws {
    try environment.write { transaction in
      let temporary = try transaction.createDatabase("temporary", [])
      try transaction.deleteDatabase(temporary)
    }
    let isReadable = DispatchSemaphore(value: 0)
    Thread {
      if (try? self.environment.beginRead().id) != nil { isReadable.signal() }
    }.start()
    #expect(isReadable.wait(timeout: .now() + 20) == .success)
  }

  @Test("A database can't be deleted while its thread holds a snapshot")
  func doesNotDeleteUnderASnapshotOfItsOwn() throws {
    let a = try #require(try environment.openDatabase("a", [], create: true))
    do {
      let pinned = try environment.beginRead()
      #expect(throws: LMDBError.growthBlocked) {
        try environment.write { try $0.deleteDatabase(a) }
      }
      _ = pinned.id
    }
    try environment.write { try $0.deleteDatabase(a) }
    #expect(try environment.databaseNames() == [])
  }
}
