internal import ArborLocks
internal import CLMDB

extension Environment {
  /// Opens the file at `path`, or returns the environment that this process has open for the same
  /// file, regardless of how the path is spelled.
  ///
  /// The file is validated before LMDB maps it. A file that isn't an LMDB file, is truncated or has
  /// a damaged root is an error, and remains unchanged. All pages are verified if the options
  /// require it.
  ///
  /// - Throws: LMDB's own codes; ``LMDBError/foreignEngine(found:)`` and `foreignFormat`;
  ///   `noSuchFile`, `invalidPath`, `danglingLink`, `lockFile`, `isDirectory`, `notRegularFile`,
  ///   `hardLinked`, `networkFileSystem`, `emptyFile`, `fileTooSmall`, `truncated`, `invalid`,
  ///   `damaged`;
  ///   `inUse` while the file is being replaced; `readOnlyEnvironment` if it is already open for
  ///   reading only.
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
      // LMDB opens by path: make sure that it found the file that was validated and locked.
      guard FileIdentity(path: path) == environment.identity else { continue }
      if let failure = environment.state.withLock({ $0.failure }) { throw failure }
      if environment.isReadOnly, !options.isReadOnly, !options.isImmutable {
        throw .readOnlyEnvironment
      }
      return environment
    }
  }

  /// nil where another file took the place of the one that was validated.
  private static func openOnce(
    _ path: String, _ options: EnvironmentOptions
  ) throws(LMDBError) -> Environment? {
    let mayCreate = options.create && !options.isReadOnly && !options.isImmutable
    let found = try DataFile(
      path: path, create: mayCreate,
      // Nothing is shared with other openers of a file that nobody writes.
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
        // A link to a file of another name: its lock file is elsewhere.
        guard target.hasSuffix("/\(dataFileName)") else { throw .notRegularFile }
        target.removeLast(dataFileName.utf8.count + 1)
        lockPath = target + "/lock.mdb"
      }
      if !options.isImmutable {
        try LockFile.prepare(lockPath, of: file.descriptor, readers: options.maximumReaders)
      }
      let environment = try make(target, options, file: file, roots, isShared: true)
      environment.noteVerified(roots)
      return environment
    }
    if isLocked { try environment.file.endOpening() }
    if !isVerified { try environment.verifyPages() }
    if options.verifiesPages { environment.marks.areComplete = true }
    return environment
  }

  /// Notes what the look at the root pages of a file, which has none if empty, has verified.
  private func noteVerified(_ roots: MetaPages?) {
    guard let roots else { return marks.areComplete = true }
    guard roots.newest.hasFewNames else { return }
    marks.settle(EngineFormat.namesHandle, in: roots.newest.transactionID)
  }

  /// The name that LMDB gives the data file in a folder.
  private static var dataFileName: String { "data.mdb" }

  /// Opens LMDB's environment at a path, by which it finds `file`.
  ///
  /// - Parameter found: The root pages as they were a moment ago; nil where they have to be read.
  static func make(
    _ path: String, _ options: EnvironmentOptions, file: consuming DataFile,
    _ found: MetaPages? = nil, isShared: Bool
  ) throws(LMDBError) -> Environment {
    let handle = try makeHandle(path, options, descriptor: file.descriptor, found)
    let roots: RootPages
    do throws(LMDBError) {
      roots = try RootPages(descriptor: file.descriptor, pageSize: found?.pageSize)
    } catch {
      mdb_env_close(handle)
      throw error
    }
    return Environment(
      handle: handle, file: file, roots: roots, options: options, isShared: isShared)
  }

  /// Opens LMDB's environment; halves the map while the system refuses so much address space.
  private static func makeHandle(
    _ path: String, _ options: EnvironmentOptions, descriptor: Int32, _ found: MetaPages?
  ) throws(LMDBError) -> sending OpaquePointer {
    // A larger file is mapped as a whole all the same.
    let wanted = min(options.initialMapSize, options.maximumMapSize)
    var mapSize = max(wanted, 1 << 16) & ~0xFFFF
    let roots: MetaPages?
    if let found { roots = found } else { roots = try MetaPages.read(descriptor) }
    let names = roots?.newest.main.entries ?? 0
    let databases = Int(min(names, mostNames)) + options.additionalDatabases
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
      mapSize = max(mapSize / 2, smallestMap)
    }
  }

  /// With less address space than this a store is of no use.
  private static var smallestMap: Int { 1 << 22 }
  /// There is room for no more names of a file than this, whatever a damaged one says.
  private static var mostNames: UInt64 { 1 << 16 }

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

  /// Never `MDB_WRITEMAP`: a full disk would then be a signal. Always `MDB_NOTLS`: a snapshot may
  /// move between threads.
  private static func flags(_ options: EnvironmentOptions) -> UInt32 {
    var flags = options.isFolder ? MDB_NOTLS : MDB_NOSUBDIR | MDB_NOTLS
    if options.isReadOnly || options.isImmutable { flags |= MDB_RDONLY }
    if options.isImmutable { flags |= MDB_NOLOCK }
    return UInt32(flags) | syncFlags(options.durability)
  }

  /// The engine's flags for what commits wait for. It opens the file for root pages that are synced
  /// whatever the flags are at first.
  static func syncFlags(_ durability: EnvironmentOptions.Durability) -> UInt32 {
    switch durability {
    case .full: 0
    case .relaxed: UInt32(MDB_NOMETASYNC)
    case .none: UInt32(MDB_NOSYNC)
    }
  }
}
