internal import CArborBits

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension Environment {
  /// Opens a new unnamed file that is removed with the environment. Commits never wait for the
  /// medium, whatever durability the options request.
  package static func openInMemory(
    options given: EnvironmentOptions = .init()
  ) throws(LMDBError) -> Environment {
    try EngineVersion.linked.validate()
    ForkGuard.install()
    var options = given
    options.durability = .none
    options.isReadOnly = false
    options.isImmutable = false
    let folder = try TemporaryFolder()
    let descriptor = try folder.makeDataFile()
    var status = stat()
    let isKnown = fstat(descriptor, &status) == 0
    let file = DataFile(
      descriptor: descriptor, path: folder.dataPath, identity: FileIdentity(status))
    guard isKnown else { throw .lastSystemError }
    let environment = try make(
      folder.dataPath, options, file: file, lockPath: nil, isShared: false)
    environment.marks.areComplete = true
    return environment
  }
}

/// A temporary folder for opening a file without a permanent name, because LMDB opens files only by
/// path. The names of the data file and the lock file are removed once both are open.
private struct TemporaryFolder: ~Copyable {
  private let path: String

  var dataPath: String { path + "/data" }

  init() throws(LMDBError) {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array((base + "/arbor-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else {
      let number = errno
      let error = LMDBError(code: number)
      throw error == .diskFull
        ? error : .temporaryFolder(TemporaryFolderProblem(path: base, errno: number))
    }
    path = template.withUnsafeBufferPointer { buffer in
      buffer.baseAddress.map { String(cString: $0) } ?? base
    }
  }

  deinit {
    unlink(dataPath)
    unlink(dataPath + "-lock")
    rmdir(path)
  }

  /// Creates an in-memory file behind a symbolic link if the system supports that, otherwise a
  /// regular file.
  borrowing func makeDataFile() throws(LMDBError) -> Int32 {
    #if canImport(Glibc)
      let memory = arbor_memory_file("arbor")
      if memory >= 0 {
        if symlink("/proc/self/fd/\(memory)", dataPath) == 0 { return memory }
        close(memory)
      }
    #endif
    let descriptor = open(dataPath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .lastSystemError }
    return descriptor
  }
}

/// The reason why an in-memory file has no temporary folder.
@usableFromInline
package struct TemporaryFolderProblem: Sendable, Hashable {
  /// The folder in which the temporary folder would have been created.
  package let path: String
  /// The error code of the system.
  package let errno: Int32
}

extension TemporaryFolderProblem {
  var cause: String {
    "A store in memory needs a temporary folder, but the folder \"\(path)\" cannot be used: "
      + "\(LMDBError.systemText(errno))."
  }

  var remedy: String { "Set the environment variable TMPDIR to the path of a writable folder." }
}
