package import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A program that runs beside a test, which waits for it with `waitpid`.
///
/// Foundation's `Process` learns of an end on a thread of its own and hands it to a run loop; a
/// test that blocks one of few threads then can wait for ever. Here nobody else takes part.
package final class StartedProgram {
  /// Where what the program writes goes.
  package enum Stream {
    case nowhere
    case file(FileHandle)
    /// To ``read()``.
    case pipe
  }

  /// Thrown where the system does not start the program.
  package struct NotStarted: Error, CustomStringConvertible {
    package let description: String
  }

  /// Held while one starts, so that none inherits the pipe of another, which would keep it open.
  private static let starting = NSLock()

  /// The process of the program.
  package let identifier: pid_t
  private var status: Int32?
  /// The end of the pipe that is read.
  private let reader: Int32?

  /// Starts a program. It reads nothing, and has none of the test's files but the given ones.
  ///
  /// - Parameters:
  ///   - environment: Variables beside those of the test itself.
  ///   - output: Where its standard output goes.
  ///   - errors: Where its standard error goes; no pipe.
  package init(
    _ executable: URL, _ arguments: [String], environment: [String: String] = [:],
    output: Stream = .nowhere, errors: Stream = .nowhere
  ) throws {
    Self.starting.lock()
    defer { Self.starting.unlock() }
    var ends: (reader: Int32, writer: Int32)?
    if case .pipe = output { ends = try Self.makePipe() }
    reader = ends?.reader
    #if canImport(Glibc)
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #else
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
      if let ends { close(ends.writer) }
    }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    for (index, stream) in [(Int32(1), output), (2, errors)] {
      switch stream {
      case .nowhere: posix_spawn_file_actions_addopen(&actions, index, "/dev/null", O_WRONLY, 0)
      case .file(let file):
        posix_spawn_file_actions_adddup2(&actions, file.fileDescriptor, index)
      case .pipe: posix_spawn_file_actions_adddup2(&actions, ends?.writer ?? -1, index)
      }
    }
    // Threads of a pool may block signals, which a program would inherit.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let variables = ProcessInfo.processInfo.environment.merging(environment) { _, given in given }
    var identifier = pid_t()
    let failure = Self.withStrings([executable.path] + arguments) { arguments in
      Self.withStrings(variables.map { "\($0)=\($1)" }) { variables in
        posix_spawn(&identifier, executable.path, &actions, &attributes, arguments, variables)
      }
    }
    guard failure == 0 else {
      if let ends { close(ends.reader) }
      throw NotStarted(
        description: "\(executable.path) does not start: " + String(cString: strerror(failure)))
    }
    self.identifier = identifier
  }

  deinit {
    if status == nil {
      kill()
      _ = wait()
    }
    if let reader { close(reader) }
  }

  /// Ends the program at once, unless its end has been waited for.
  package func kill() {
    guard status == nil else { return }
    #if canImport(Glibc)
      _ = Glibc.kill(identifier, SIGKILL)
    #else
      _ = Darwin.kill(identifier, SIGKILL)
    #endif
  }

  /// Waits for the end; gives the exit code, or the number of the signal that ended the program.
  package func wait() -> Int32 {
    if let status { return status }
    var raw: Int32 = 0
    while waitpid(identifier, &raw, 0) == -1, errno == EINTR {}
    let signal = raw & 0x7F
    let status = signal == 0 ? raw >> 8 & 0xFF : signal
    self.status = status
    return status
  }

  /// Waits for something in the pipe; gives it, or nothing where no more comes.
  package func read() -> [UInt8] {
    guard let reader else { return [] }
    return [UInt8](unsafeUninitializedCapacity: 1 << 16) { bytes, count in
      var result: Int
      repeat {
        #if canImport(Glibc)
          result = Glibc.read(reader, bytes.baseAddress, bytes.count)
        #else
          result = Darwin.read(reader, bytes.baseAddress, bytes.count)
        #endif
      } while result == -1 && errno == EINTR
      count = max(0, result)
    }
  }

  /// A pipe that no program inherits but by the name it is given.
  private static func makePipe() throws -> (reader: Int32, writer: Int32) {
    var ends: [Int32] = [-1, -1]
    if pipe(&ends) != 0 || ends.contains(where: { fcntl($0, F_SETFD, FD_CLOEXEC) != 0 }) {
      throw NotStarted(description: "no pipe: " + String(cString: strerror(errno)))
    }
    return (ends[0], ends[1])
  }

  private static func withStrings<R>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R
  ) -> R {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
  }
}
