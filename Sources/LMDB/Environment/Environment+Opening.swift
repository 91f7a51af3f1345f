internal import ArborLocks
internal import CLMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension Environment {
  /// Opens the file at `path`, or returns the environment with which this process already has the
  /// same file open, however the path is spelled.
  ///
  /// The file is validated before LMDB maps it: a file that is not an LMDB file, is truncated or
  /// has a damaged root is an error, and is not changed. If requested by the options, all pages are
  /// verified.
  ///
  /// - Throws: In addition to LMDB's own codes, ``LMDBError/foreignEngine(found:)`` and
  ///   `foreignFormat`; `noSuchFile`, `invalidPath`, `danglingLink`, `lockFile`, `isDirectory`,
  ///   `notRegularFile`, `hardLinked`, `networkFileSystem`, `emptyFile`, `fileTooSmall`,
  ///   `truncated`, `invalid`, `damaged`; `inUse` while the file is being replaced;
  ///   `readOnlyEnvironment` if it is already open read-only.
  package static func open(
    path: String, options: EnvironmentOptions = .init()
  ) throws(LMDBError) -> Environment {
    try open(path: path, options: options, engine: .linked)
  }

  static func open(
    path: String, options: EnvironmentOptions, engine: EngineVersion
  ) throws(LMDBError) -> Environment {
    try engine.validate()
    ForkGuard.install()
    let path = options.isFolder ? "\(path)/\(dataFileName)" : path
    while true {
      guard let environment = try openOnce(path, options) else { continue }
      // LMDB opens by path, so check that it opened the file that was validated and locked.
      guard FileIdentity(path: path) == environment.identity else { continue }
      if let failure = environment.state.withLock({ $0.failure }) { throw failure }
      if environment.isReadOnly, !options.isReadOnly, !options.isImmutable {
        throw .readOnlyEnvironment
      }
      return environment
    }
  }

  /// Attempts to open the file once. Returns `nil` if the validated file has been replaced by
  /// another one.
  private static func openOnce(
    _ path: String, _ options: EnvironmentOptions
  ) throws(LMDBError) -> Environment? {
    let mayCreate = options.create && !options.isReadOnly && !options.isImmutable
    let found = try DataFile(
      path: path, create: mayCreate,
      // A file that is never written shares nothing with its other openers.
      allowsNetwork: options.allowsNetworkFileSystem || options.isImmutable, lock: .shared)
    let identity = found.identity
    let isVerified = options.verifiesPages ? try isSound(found.descriptor) : true
    let isLocked = try found.beginOpening()
    guard found.isInPlace else { return nil }
    var file: DataFile? = consume found
    let environment = try EnvironmentRegistry.shared.environment(of: identity) {
      () throws(LMDBError) -> Environment in
      guard let file = file.take() else { throw .fileReplaced }
      let roots = try MetaPages.check(file.descriptor)
      if roots == nil, !mayCreate { throw .emptyFile }
      var target = file.path
      var lockPath = target + "-lock"
      if options.isFolder {
        // A link to a file with another name: its lock file is elsewhere.
        guard target.hasSuffix("/\(dataFileName)") else { throw .notRegularFile }
        target.removeLast(dataFileName.utf8.count + 1)
        lockPath = target + "/lock.mdb"
      }
      let environment = try make(
        target, options, file: file, roots, lockPath: options.isImmutable ? nil : lockPath,
        isShared: true)
      environment.noteVerified(roots)
      return environment
    }
    if isLocked { try environment.file.endOpening() }
    if !isVerified { try environment.verifyPages() }
    if options.verifiesPages { environment.marks.areComplete = true }
    return environment
  }

  /// Records the pages that reading the root pages has verified. An empty file has none.
  private func noteVerified(_ roots: MetaPages?) {
    guard let roots else { return marks.areComplete = true }
    guard roots.newest.hasFewNames else { return }
    marks.settle(EngineFormat.namesHandle, in: roots.newest.transactionID)
  }

  /// The name of the data file in a folder, as defined by LMDB.
  private static var dataFileName: String { "data.mdb" }

  /// Opens LMDB's environment at a path, which must refer to `file`.
  ///
  /// - Parameters:
  ///   - found: The root pages that have just been read, or `nil` to read them.
  ///   - lockPath: The path of the lock file, or `nil` if no other process can open the file.
  static func make(
    _ path: String, _ options: EnvironmentOptions, file: consuming DataFile,
    _ found: MetaPages? = nil, lockPath: String?, isShared: Bool
  ) throws(LMDBError) -> Environment {
    let writes = !options.isReadOnly && !options.isImmutable
    var attempts = 0
    while true {
      var gate: WriterGate?
      if let lockPath {
        gate = try LockFile.prepare(
          lockPath, of: file.descriptor, readers: options.maximumReaders, writes: writes)
      }
      let handle = try makeHandle(path, options, descriptor: file.descriptor, found)
      if let prepared = gate, !prepared.follows(slots: slots(of: handle)) {
        // Another program has created or enlarged the lock file at the same moment.
        attempts += 1
        if attempts < 3 {
          mdb_env_close(handle)
          continue
        }
        gate = nil
      }
      let roots: RootPages
      do throws(LMDBError) {
        roots = try RootPages(descriptor: file.descriptor, pageSize: found?.pageSize)
      } catch {
        mdb_env_close(handle)
        throw error
      }
      return Environment(
        handle: handle, file: file, roots: roots, options: options, gate: gate, isShared: isShared)
    }
  }

  /// Returns the number of reader slots in the lock file.
  private static func slots(of handle: OpaquePointer) -> Int {
    var info = MDB_envinfo()
    return mdb_env_info(handle, &info) == MDB_SUCCESS ? Int(info.me_maxreaders) : 0
  }

  /// Opens LMDB's environment, with a smaller map as long as the system refuses the address space.
  private static func makeHandle(
    _ path: String, _ options: EnvironmentOptions, descriptor: Int32, _ found: MetaPages?
  ) throws(LMDBError) -> sending OpaquePointer {
    // A larger file is mapped in full anyway.
    var status = stat()
    let fileSize = fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    let wanted = min(
      options.initialMapSize ?? AddressSpace.firstMap(ofFileOf: fileSize), options.maximumMapSize)
    var mapSize = max(wanted, 1 << 16) & ~0xFFFF
    let roots: MetaPages?
    if let found { roots = found } else { roots = try MetaPages.read(descriptor) }
    let names = roots?.newest.main.entries ?? 0
    let databases = Int(min(names, maximumNames)) + options.additionalDatabases
    while true {
      var opened: OpaquePointer?
      try check(mdb_env_create(&opened))
      guard let handle = opened else { throw .outOfMemory }
      var code = configure(handle, options, mapSize: mapSize, databases: databases)
      if code == MDB_SUCCESS { code = mdb_env_open(handle, path, flags(options), 0o600) }
      if code == MDB_SUCCESS, options.clearsStaleReaders {
        var dead: Int32 = 0
        code = mdb_reader_check(handle, &dead)
      }
      if code == MDB_SUCCESS { return handle }
      mdb_env_close(handle)
      let error = LMDBError(code: code)
      guard error == .outOfMemory, mapSize > smallestMap else {
        throw DiskSpace(descriptor: descriptor).explain(error, bytes: 0)
      }
      if options.initialMapSize == nil { AddressSpace.noteRefused(mapSize) }
      mapSize = max(mapSize / (options.initialMapSize == nil ? 16 : 2), smallestMap)
    }
  }

  /// The minimum map size at which a store is usable.
  private static var smallestMap: Int { 1 << 22 }
  /// The maximum number of database names to reserve space for, because a damaged file may claim
  /// any number.
  private static var maximumNames: UInt64 { 1 << 16 }

  private static func configure(
    _ handle: OpaquePointer, _ options: EnvironmentOptions, mapSize: Int, databases: Int
  ) -> Int32 {
    var code = mdb_env_set_mapsize(handle, mapSize)
    if code == MDB_SUCCESS {
      code = mdb_env_set_maxreaders(handle, UInt32(clamping: options.maximumReaders))
    }
    if code == MDB_SUCCESS {
      code = mdb_env_set_maxdbs(handle, UInt32(clamping: databases))
    }
    return code
  }

  /// Returns LMDB's flags. Never uses `MDB_WRITEMAP`, with which a full disk raises a signal.
  /// Always uses `MDB_NOTLS`, so that a snapshot can move between threads.
  private static func flags(_ options: EnvironmentOptions) -> UInt32 {
    var flags = options.isFolder ? MDB_NOTLS : MDB_NOSUBDIR | MDB_NOTLS
    if options.isReadOnly || options.isImmutable { flags |= MDB_RDONLY }
    if options.isImmutable { flags |= MDB_NOLOCK }
    return UInt32(flags) | syncFlags(options.durability)
  }

  /// Returns the engine's flags for a durability. The engine opens its descriptor for synchronous
  /// root pages regardless of the initial flags.
  static func syncFlags(_ durability: EnvironmentOptions.Durability) -> UInt32 {
    switch durability {
    case .full: 0
    case .relaxed: UInt32(MDB_NOMETASYNC)
    case .none: UInt32(MDB_NOSYNC)
    }
  }
}
