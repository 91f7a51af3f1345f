import Foundation
import Testing

@testable import LMDB

/// Full disks. The tests run in child processes because limits and mounts are process-wide.
@Suite struct DiskSpaceTests {
  /// Adds records until a commit fails. Returns the number of committed records and the error.
  private static func fill(
    _ environment: Environment, _ database: Database, from start: Int
  ) throws -> (records: Int, error: LMDBError?) {
    for key in start..<100_000 {
      do {
        try environment.write { transaction in
          try transaction.put(
            database, UInt64(key).nativeBytes, [UInt8](repeating: UInt8(key & 0xFF), count: 20_000))
        }
      } catch let error as LMDBError {
        return (key, error)
      }
    }
    return (100_000, nil)
  }

  /// Checks that all committed records are present and that deleting and inserting work again.
  private static func checkGoesOn(
    _ environment: Environment, _ database: Database, records: Int
  ) throws {
    func expect(_ isTrue: Bool, _ code: Int32) { if !isTrue { exit(code) } }
    expect(try environment.statistics(of: database).entries == records, 20)
    expect(try environment.value(database, UInt64(records - 1).nativeBytes)?.count == 20_000, 21)
    try environment.write { transaction in
      for key in 0..<records / 2 { try transaction.delete(database, key: UInt64(key)) }
    }
    try environment.write { try $0.delete(database, key: UInt64(records / 2)) }
    try environment.write { try $0.put(database, UInt64(0).nativeBytes, [1, 2, 3]) }
    expect(try environment.value(database, UInt64(0).nativeBytes) == [1, 2, 3], 22)
    let path = environment.path
    try environment.close()
    let again = try Environment.open(path: path)
    let same = try #require(try again.openDatabase("it", .integerKey, create: false))
    expect(try again.statistics(of: same).entries == records - records / 2, 23)
  }

  @Test("A file size limit is reported as a full disk")
  func saysSoAtALimitOfTheFileSize() async throws {
    await #expect(processExitsWith: .exitCode(7)) {
      let folder = try TemporaryFolder()
      let environment = try folder.environment()
      let database = try #require(try environment.openDatabase("it", .integerKey, create: true))
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 3_000_000, rlim_max: rlim_t.max)
      #if canImport(Glibc)
        let isSet = setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0
      #else
        let isSet = setrlimit(RLIMIT_FSIZE, &limit) == 0
      #endif
      guard isSet else { exit(2) }
      let (records, error) = try Self.fill(environment, database, from: 0)
      guard error == .diskFull, records > 20 else { exit(3) }
      // A change large enough to be written before the commit fails in the same way.
      do {
        try environment.copy(to: folder.file("copy"), compacting: false)
        try environment.copy(to: folder.file("second"), compacting: false)
      } catch LMDBError.diskFull {}
      try Self.checkGoesOn(environment, database, records: records)
      exit(7)
    }
  }

  #if os(Linux)
    /// Redirects descriptors of the data file that `isChosen` selects to a device that is always
    /// full.
    private static func redirect(_ path: String, isChosen: (Int32) -> Bool) throws {
      let full = open("/dev/full", O_RDWR)
      for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
        guard let descriptor = Int32(name), FileIdentity(path: path) != nil else { continue }
        var status = stat()
        guard fstat(descriptor, &status) == 0,
          FileIdentity(status) == FileIdentity(path: path), isChosen(descriptor)
        else { continue }
        dup2(full, descriptor)
      }
    }

    /// Whether a descriptor writes synchronously, as the one does that LMDB uses for root pages.
    private static func isSynchronous(_ descriptor: Int32) -> Bool {
      fcntl(descriptor, F_GETFL) & O_DSYNC != 0
    }

    /// If writing the root page fails, the outcome is unknown: the environment must be reopened,
    /// and then shows a complete commit.
    @Test("A failed write of the root page requires reopening")
    func stopsAfterAFailureOfTheRootPage() async throws {
      await #expect(processExitsWith: .exitCode(7)) {
        let folder = try TemporaryFolder()
        let environment = try folder.environment { $0.durability = .full }
        let database = try #require(try environment.openDatabase("it", [], create: true))
        try environment.write { try $0.put(database, [1], [1]) }
        let path = environment.path
        try Self.redirect(path, isChosen: Self.isSynchronous)
        do {
          try environment.write { try $0.put(database, [1], [2]) }
          exit(2)
        } catch LMDBError.diskFull {}
        do {
          _ = try environment.beginRead()
          exit(3)
        } catch LMDBError.panic {}
        do {
          try environment.write { _ in }
          exit(4)
        } catch LMDBError.panic {}
        do {
          _ = try Environment.open(path: path)
          exit(5)
        } catch LMDBError.panic {}
        try environment.close()
        let again = try Environment.open(path: path)
        let same = try #require(try again.openDatabase("it"))
        guard try again.value(same, [1]) == [1] else { exit(6) }
        try again.write { try $0.put(same, [1], [3]) }
        guard try again.value(same, [1]) == [3] else { exit(8) }
        exit(7)
      }
    }

    @Test("If writing data pages fails, the commit has no effect, and the next one may succeed")
    func goesOnAfterAFailureOfTheDataPages() async throws {
      await #expect(processExitsWith: .exitCode(7)) {
        let folder = try TemporaryFolder()
        let environment = try folder.environment { $0.durability = .full }
        let database = try #require(try environment.openDatabase("it", [], create: true))
        try environment.write { try $0.put(database, [1], [1]) }
        let file = open(environment.path, O_RDWR)
        let own = environment.file.descriptor
        var redirected: [Int32] = []
        try Self.redirect(environment.path) { descriptor in
          let isData = descriptor != file && descriptor != own && !Self.isSynchronous(descriptor)
          if isData { redirected.append(descriptor) }
          return isData
        }
        do {
          try environment.write { try $0.put(database, [1], [2]) }
          exit(2)
        } catch LMDBError.diskFull {}
        guard try environment.value(database, [1]) == [1] else { exit(3) }
        for descriptor in redirected { dup2(file, descriptor) }
        try environment.write { try $0.put(database, [1], [3]) }
        guard try environment.value(database, [1]) == [3], !redirected.isEmpty else { exit(4) }
        exit(7)
      }
    }

    /// Mounts a small file system that is private to the process. Exits with 7, as after success,
    /// if the machine doesn't permit it.
    private static func mountSmall(at path: String, bytes: Int) {
      // A private mount namespace; the Glibc module doesn't export the call.
      guard let symbol = dlsym(nil, "unshare") else { exit(7) }
      let unshare = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
      guard unshare(0x0002_0000) == 0,
        mount("none", "/", nil, UInt(0x4_4000), nil) == 0,
        mount("none", path, "tmpfs", 0, "size=\(bytes)") == 0
      else { exit(7) }
    }

    @Test("A full disk is reported, and the store remains usable")
    func saysSoOnAFullDisk() async throws {
      await #expect(processExitsWith: .exitCode(7)) {
        let folder = try TemporaryFolder()
        Self.mountSmall(at: folder.path, bytes: 2_000_000)
        let environment = try folder.environment()
        let database = try #require(try environment.openDatabase("it", .integerKey, create: true))
        let (records, error) = try Self.fill(environment, database, from: 0)
        guard error == .diskFull, records > 20 else { exit(3) }
        // There is no space for another store either: an error, not a signal.
        do {
          _ = try folder.environment("second.arbor")
          exit(4)
        } catch LMDBError.diskFull {}
        do {
          try environment.copy(to: folder.file("copy"), compacting: false)
          exit(5)
        } catch LMDBError.diskFull {}
        guard !FileManager.default.fileExists(atPath: folder.file("copy")) else { exit(6) }
        try Self.checkGoesOn(environment, database, records: records)
        exit(7)
      }
    }

    @Test("A store on a read-only file system can be read")
    func readsOnAReadOnlyFileSystem() async throws {
      await #expect(processExitsWith: .exitCode(7)) {
        let folder = try TemporaryFolder()
        Self.mountSmall(at: folder.path, bytes: 8_000_000)
        do {
          let environment = try folder.environment()
          let database = try #require(try environment.openDatabase("it", [], create: true))
          try environment.write { try $0.put(database, [1], [1]) }
        }
        guard mount("none", folder.path, "tmpfs", 0x21, nil) == 0 else { exit(2) }
        do {
          _ = try Environment.open(path: folder.file("store.arbor"))
          exit(3)
        } catch LMDBError.readOnlyFileSystem {}
        do {
          _ = try folder.environment("new.arbor")
          exit(4)
        } catch LMDBError.readOnlyFileSystem {}
        var options = EnvironmentOptions()
        options.isReadOnly = true
        let reader = try Environment.open(path: folder.file("store.arbor"), options: options)
        let database = try #require(try reader.openDatabase("it"))
        guard try reader.value(database, [1]) == [1] else { exit(5) }
        exit(7)
      }
    }
  #endif

  @Test("Errors other than a full disk are unchanged")
  func leavesOtherErrorsAsTheyAre() throws {
    let folder = try TemporaryFolder()
    let environment = try folder.environment()
    let space = DiskSpace(descriptor: environment.file.descriptor)
    #expect(space.explain(.mapFull, bytes: 0) == .mapFull)
    #expect(space.explain(.system(errno: EIO), bytes: 0) == .system(errno: EIO))
    #expect(space.explain(.system(errno: EIO), bytes: 1 << 60) == .diskFull)
  }
}
