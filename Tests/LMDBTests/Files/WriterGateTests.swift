#if os(Linux)
  import ArborLocks
  import Foundation
  import Testing

  @testable import LMDB

  @Suite struct WriterGateTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    private func writerGate(of environment: Environment) -> WriterGate? {
      environment.state.withLock { $0.writerGate }
    }

    private func size(ofLock environment: Environment) -> Int {
      var status = stat()
      #expect(stat(environment.path + "-lock", &status) == 0)
      return Int(status.st_size)
    }

    @Test("The gate follows the reader slots of the lock file", arguments: [16, 100, 1024])
    func followsTheSlots(readers: Int) throws {
      for _ in 0..<2 {
        let environment = try folder.environment { $0.maximumReaders = readers }
        let gate = try #require(writerGate(of: environment))
        #expect(gate.offset == 128 + 64 * readers && size(ofLock: environment) == gate.offset + 60)
        #expect(gate.writer == nil)
        let database = try #require(try environment.openDatabase("it", [], create: true))
        try environment.write { transaction in
          #expect(gate.isHeldByThisThread && gate.writer?.processID == getpid())
          try transaction.put(database, [1], [1])
        }
        #expect(!gate.isHeldByThisThread && gate.writer == nil)
        try environment.close()
      }
    }

    @Test("A gate is added to a lock file without one, and found after the file has grown")
    func isAddedToForeignLockFiles() throws {
      try folder.environment().close()
      let path = folder.file("store.arbor") + "-lock"
      // The lock file of a program with fewer slots, and of one with the same number.
      for size in [128 + 64 * 126, 128 + 64 * 1024, 128 + 64 * 126 + 60] {
        #expect(unlink(path) == 0)
        try Data(count: size).write(to: URL(filePath: path))
        let environment = try folder.environment()
        let gate = try #require(writerGate(of: environment))
        #expect(gate.offset == 128 + 64 * 1024)
        try environment.close()
      }
    }

    @Test("A transaction of this thread that has passed the gate doesn't wait again")
    func isEnteredInAdvance() throws {
      let environment = try folder.environment { $0.busyTimeout = 0.05 }
      let database = try #require(try environment.openDatabase("it", [], create: true))
      try environment.enterGate { true }
      #expect(environment.busyWriter.processID == getpid())
      let ended = DispatchSemaphore(value: 0)
      Thread {
        #expect(throws: LMDBError.busy(environment.busyWriter)) {
          try environment.enterGate { false }
        }
        #expect(throws: LMDBError.abandoned) { try environment.enterGate { true } }
        environment.leaveGate()
        ended.signal()
      }.start()
      ended.wait()
      try environment.write { try $0.put(database, [1], [1]) }
      environment.leaveGate()
      try environment.enterGate { true }
      environment.leaveGate()
      environment.leaveGate()
      try environment.write { transaction in
        #expect(throws: LMDBError.nestedWrite) { try environment.write { _ in } }
        #expect(throws: LMDBError.nestedWrite) { try environment.enterGate { false } }
        try transaction.put(database, [2], [2])
      }
      #expect(try environment.statistics(of: database).entries == 2)
    }
  }
#endif
