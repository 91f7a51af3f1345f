package import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A child process that a test waits for with `waitpid`.
///
/// Foundation's `Process` observes the exit on a thread of its own and delivers it through a run
/// loop. A test that blocks one of few threads may then wait forever. No other thread is involved
/// here.
package final class StartedProgram {
  /// The destination of an output stream.
  package enum Stream {
    case nowhere
    case file(FileHandle)
    /// A pipe that ``read()`` reads from.
    case pipe
  }

  /// Thrown if the system can't start the program.
  package struct NotStarted: Error, CustomStringConvertible {
    package let description: String
  }

  /// Held while a program starts, so that no other one inherits its pipe and keeps it open.
  private static let starting = NSLock()

  package let identifier: pid_t
  private var status: Int32?
  /// The read end of the pipe.
  private let reader: Int32?

  /// Starts a program. Its standard input is empty, and it inherits only the given file
  /// descriptors.
  ///
  /// - Parameters:
  ///   - environment: Variables to add to the environment of the test process.
  ///   - output: The destination of standard output.
  ///   - errors: The destination of standard error; must not be a pipe.
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
    // Threads of a pool may block signals, and a background job ignores some. The program would
    // inherit both.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    var ending = none
    for signal in [SIGHUP, SIGINT, SIGTERM] { sigaddset(&ending, signal) }
    posix_spawnattr_setsigdefault(&attributes, &ending)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
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

  /// Kills the program, unless its exit has been waited for.
  package func kill() { send(SIGKILL) }

  /// Waits until the program is stopped, and then continues it. A signal to continue that arrives
  /// before the program has stopped is lost.
  package func resume() {
    var info = siginfo_t()
    while waitid(P_PID, id_t(identifier), &info, WSTOPPED | WEXITED | WNOWAIT) != 0 {
      guard errno == EINTR else { break }
    }
    send(SIGCONT)
  }

  /// Sends the program a signal, unless its exit has been waited for.
  package func send(_ signal: Int32) {
    guard status == nil else { return }
    #if canImport(Glibc)
      _ = Glibc.kill(identifier, signal)
    #else
      _ = Darwin.kill(identifier, signal)
    #endif
  }

  /// Waits for the program to exit and returns its exit code, or the number of the signal that
  /// terminated it.
  package func wait() -> Int32 {
    if let status { return status }
    var raw: Int32 = 0
    while waitpid(identifier, &raw, 0) == -1, errno == EINTR {}
    let signal = raw & 0x7F
    let status = signal == 0 ? raw >> 8 & 0xFF : signal
    self.status = status
    return status
  }

  /// Waits for output in the pipe and returns it. Returns an empty array at the end of the output.
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

  /// Creates a pipe whose ends are closed in child processes unless they are passed explicitly.
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
