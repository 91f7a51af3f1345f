internal import CPostgres
internal import Foundation

/// A connection to a server over libpq. Only this class, ``PostgresResult`` and the parser of
/// connection strings use libpq.
///
/// No call blocks beyond the given deadline: libpq is used in non-blocking mode, and waiting is
/// done by `poll` on its socket. Host names, which libpq resolves when a connection is started,
/// have no timeout, so starting one is a ``BoundedCall``. libpq itself suppresses SIGPIPE.
///
/// `@unchecked Sendable`: a connection has one user at a time, which takes it from the pool and
/// returns it under the pool's lock, and libpq allows connections to move between threads.
///
/// The unsafe code is sound for these reasons: the handle is created in `begin(_:)`, is private and
/// freed in `deinit` only; pointers to parameters live for the duration of one call, which copies
/// them; strings returned by libpq are copied before its next call; and the object for notices,
/// whose address libpq keeps, lives as long as the handle.
@safe final class PostgresConnection: @unchecked Sendable {
  private let handle: OpaquePointer
  private let notices = Notices()
  /// The names of the prepared statements, keyed by the statements' text.
  private var prepared: [String: String] = [:]
  /// Whether the results of all sent statements have been received.
  private var isIdle = true

  /// The notices that a server sends in addition to its responses.
  private final class Notices {
    var warnings: [(state: String?, message: String)] = []
    /// Whether the server has announced that it closes the connection.
    var isEnding = false
  }

  private init(_ handle: OpaquePointer) { unsafe self.handle = handle }

  deinit { unsafe PQfinish(handle) }

  // MARK: Opening

  /// Connects to a server.
  ///
  /// - Parameter parameters: The parameters of a connection string with a single host.
  /// - Throws: A failure of the kind `unreachable`.
  static func open(
    _ parameters: [String: String], deadline: Deadline
  ) throws(PostgresFailure) -> PostgresConnection {
    guard let begun = BoundedCall.shared.run(until: deadline, { begin(parameters) }) else {
      throw PostgresFailure(.unreachable, "The server's name was not resolved in time")
    }
    guard let connection = begun else {
      throw PostgresFailure(.unreachable, "Out of memory for a connection")
    }
    try connection.finishOpening(deadline)
    return connection
  }

  /// Resolves the server's name and starts to connect. Returns `nil` if out of memory.
  private static func begin(_ parameters: [String: String]) -> PostgresConnection? {
    let started = unsafe withStrings(Array(parameters.keys)) { keys in
      unsafe withStrings(Array(parameters.values)) { values in
        unsafe PQconnectStartParams(keys, values, 0)
      }
    }
    return unsafe started.map { unsafe PostgresConnection($0) }
  }

  private func finishOpening(_ deadline: Deadline) throws(PostgresFailure) {
    // Includes the SQLSTATE of a refusal, which libpq doesn't expose otherwise.
    unsafe PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
    unsafe PQsetNoticeReceiver(
      handle,
      { object, result in
        guard let object = unsafe object, let result = unsafe result else { return }
        let notices = unsafe Unmanaged<Notices>.fromOpaque(object).takeUnretainedValue()
        let severity = unsafe PostgresResult.field(PostgresResult.severity, of: result)
        if severity == "FATAL" || severity == "PANIC" { notices.isEnding = true }
        guard severity == "WARNING" else { return }
        notices.warnings.append(
          unsafe (
            PostgresResult.field(PostgresResult.state, of: result),
            PostgresResult.field(PostgresResult.message, of: result) ?? "a warning"
          ))
      }, Unmanaged.passUnretained(notices).toOpaque())
    var polling = PGRES_POLLING_WRITING
    while polling != PGRES_POLLING_OK {
      guard unsafe PQstatus(handle) != CONNECTION_BAD, polling != PGRES_POLLING_FAILED else {
        throw refusal()
      }
      guard wait(for: polling == PGRES_POLLING_WRITING ? POLLOUT : POLLIN, deadline) else {
        throw PostgresFailure(.unreachable, "The server doesn't respond")
      }
      polling = unsafe PQconnectPoll(handle)
    }
    guard unsafe PQsetnonblocking(handle, 1) == 0, unsafe PQenterPipelineMode(handle) == 1 else {
      throw refusal()
    }
  }

  /// Returns the failure of a refused connection, with the SQLSTATE parsed from libpq's message,
  /// such as `FATAL:  28P01: password authentication failed for user "ada"`.
  private func refusal() -> PostgresFailure {
    let text = lastMessage
    if unsafe PQconnectionNeedsPassword(handle) == 1 {
      return PostgresFailure(.unreachable, state: "28P01", text)
    }
    let mark = #/: {2}(?<state>[0-9A-Z]{5}): /#
    guard let match = text.firstMatch(of: mark) else { return PostgresFailure(.unreachable, text) }
    return PostgresFailure(
      .unreachable, state: String(match.state), text.replacing(mark, with: ": ", maxReplacements: 1)
    )
  }

  // MARK: Running statements

  /// Whether statements can be sent. Detects that the server has closed the connection before
  /// anything is sent.
  ///
  /// Reads from the socket. Checked once before each use.
  var isUsable: Bool {
    guard isIdle, unsafe PQstatus(handle) == CONNECTION_OK else { return false }
    guard unsafe PQconsumeInput(handle) == 1, unsafe PQstatus(handle) == CONNECTION_OK else {
      return false
    }
    // Processes the input, which may contain the server's announcement that it closes.
    _ = unsafe PQisBusy(handle)
    return !notices.isEnding
  }

  /// Runs statements as one transaction in one round trip.
  ///
  /// - Returns: The result of each statement.
  /// - Throws: `refused` if a statement failed and the transaction was rolled back. `doubtful` if
  ///   all were executed and the server sent a warning. `lost` if the connection failed or the
  ///   deadline passed before all results arrived; the connection cannot be used afterwards.
  ///   `unreachable` if nothing was sent.
  func run(
    _ statements: [PostgresStatement], deadline: Deadline
  ) throws(PostgresFailure) -> [PostgresResult] {
    guard isIdle, unsafe PQstatus(handle) == CONNECTION_OK, !notices.isEnding else {
      throw PostgresFailure(.unreachable, lastError)
    }
    notices.warnings = []
    isIdle = false
    var isStatement: [Bool] = []
    var names: [(text: String, name: String, index: Int)] = []
    for statement in statements {
      var name = prepared[statement.text] ?? names.first { $0.text == statement.text }?.name
      if name == nil {
        let new = "arbor\(prepared.count + names.count)"
        try prepare(statement, as: new)
        names.append((statement.text, new, isStatement.count))
        isStatement.append(false)
        name = new
      }
      try send(statement.values, to: name ?? "")
      isStatement.append(true)
    }
    guard unsafe PQpipelineSync(handle) == 1 else { throw PostgresFailure(.lost, lastError) }
    let results = try readResults(count: isStatement.count, deadline)
    isIdle = true
    let failure = results.first { !$0.isSuccess }
    for (text, name, index) in names where results.indices.contains(index) {
      if results[index].isSuccess { prepared[text] = name }
    }
    if let failure { throw PostgresFailure(.refused, state: failure.state, failure.message) }
    if let (state, message) = notices.warnings.first {
      throw PostgresFailure(.doubtful, state: state, message)
    }
    return zip(results, isStatement).compactMap { $1 ? $0 : nil }
  }

  private func prepare(_ statement: PostgresStatement, as name: String) throws(PostgresFailure) {
    let types = statement.values.map(\.type)
    let isSent = unsafe types.withUnsafeBufferPointer { types in
      unsafe PQsendPrepare(handle, name, statement.text, Int32(types.count), types.baseAddress)
    }
    guard isSent == 1 else { throw PostgresFailure(.lost, lastError) }
  }

  private func send(_ values: [PostgresValue], to name: String) throws(PostgresFailure) {
    var bytes: [UInt8] = []
    var offsets: [Int] = []
    for value in values {
      offsets.append(bytes.count)
      value.append(to: &bytes)
    }
    let ends = offsets.dropFirst() + [bytes.count]
    let lengths = zip(offsets, ends).map { Int32($1 - $0) }
    let formats = [Int32](repeating: 1, count: values.count)
    // Without an address, an empty value would be sent as NULL.
    bytes.append(0)
    let isSent = unsafe bytes.withUnsafeBytes { bytes in
      let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      let addresses = unsafe offsets.map { offset in unsafe start.map { unsafe $0 + offset } }
      return unsafe PQsendQueryPrepared(
        handle, name, Int32(values.count), addresses, lengths, formats, 1)
    }
    guard isSent == 1 else { throw PostgresFailure(.lost, lastError) }
  }

  /// Sends remaining output and reads results up to the end of the pipeline.
  private func readResults(
    count: Int, _ deadline: Deadline
  ) throws(PostgresFailure) -> [PostgresResult] {
    var results: [PostgresResult] = []
    results.reserveCapacity(count)
    while true {
      let flushed = unsafe PQflush(handle)
      guard flushed >= 0 else { throw lost(results) }
      var empty = 0
      while unsafe PQisBusy(handle) == 0 {
        guard let result = unsafe PQgetResult(handle) else {
          // `nil` ends the results of a statement. Repeated `nil` means that the connection is
          // lost.
          empty += 1
          guard empty < 2, unsafe PQstatus(handle) != CONNECTION_BAD else { throw lost(results) }
          continue
        }
        empty = 0
        let found = unsafe PostgresResult(result)
        if found.isEndOfPipeline { return results }
        results.append(found)
      }
      let events = flushed == 1 ? POLLIN | POLLOUT : POLLIN
      guard wait(for: events, deadline) else {
        throw PostgresFailure(.lost, "The server doesn't respond")
      }
      guard unsafe PQconsumeInput(handle) == 1 else { throw lost(results) }
    }
  }

  /// Returns the failure for a lost connection, with the server's last error.
  private func lost(_ results: [PostgresResult]) -> PostgresFailure {
    let failed = results.first { !$0.isSuccess }
    return PostgresFailure(.lost, state: failed?.state, failed?.message ?? lastError)
  }

  // MARK: Listening

  /// Returns the notifications since the last call, waiting for one until the deadline.
  ///
  /// - Returns: The payloads. Empty if the deadline passed.
  /// - Throws: A failure of the kind `lost`.
  func notifications(until deadline: Deadline) throws(PostgresFailure) -> [String] {
    _ = wait(for: POLLIN, deadline)
    guard unsafe PQconsumeInput(handle) == 1 else { throw PostgresFailure(.lost, lastError) }
    var payloads: [String] = []
    while let notification = unsafe PQnotifies(handle) {
      unsafe payloads.append(String(cString: notification.pointee.extra))
      unsafe PQfreemem(notification)
    }
    return payloads
  }

  // MARK: Waiting

  /// Waits until the socket is ready. Returns `false` if the deadline passed first.
  private func wait(for events: Int32, _ deadline: Deadline) -> Bool {
    while true {
      var descriptor = unsafe pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
      let ready = unsafe poll(&descriptor, 1, deadline.milliseconds)
      if ready < 0, errno == EINTR { continue }
      return ready > 0
    }
  }

  private var lastError: String { lastMessage.isEmpty ? "The connection is closed" : lastMessage }

  /// The message of libpq's last error, without source locations and hints.
  private var lastMessage: String {
    unsafe String(cString: PQerrorMessage(handle)).split(separator: "\n")
      .filter { !$0.hasPrefix("LOCATION:") && !$0.hasPrefix("\t") }.joined(separator: "; ")
  }

  /// Calls `body` with a NULL-terminated array of C strings that are valid during the call.
  private static func withStrings<R>(
    _ strings: [String], _ body: ([UnsafePointer<CChar>?]) -> R
  ) -> R {
    let copies = unsafe strings.map { unsafe strdup($0) }
    defer { unsafe copies.forEach { unsafe free($0) } }
    return unsafe body(copies.map { unsafe UnsafePointer($0) } + [nil])
  }
}
