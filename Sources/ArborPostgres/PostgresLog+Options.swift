internal import ArborModel

extension PostgresLog {
  /// The options of a log.
  public struct Options: Sendable, Hashable {
    /// The timeout of a call, across lost connections and changes of the primary server. The
    /// default is ten seconds.
    ///
    /// A call that transfers data gets an additional second per MiB. When snapshots are
    /// transferred, the timeout applies to each part of 1 MiB.
    public var timeout: Duration = .seconds(10)
    /// The timeout for connecting to one server, after which the next one is tried.
    ///
    /// It includes resolving the server's host name. The default is two seconds, unless
    /// `connect_timeout` in the connection string overrides it.
    public var connectTimeout: Duration = .seconds(2)
    /// The time after which a server cancels a statement. The default is four seconds. The server's
    /// response is awaited for one more second.
    public var statementTimeout: Duration = .seconds(4)
    /// The schema of the log's tables, which is created if it doesn't exist. The default is
    /// `public`.
    public var schema = "public"
    /// The maximum number of concurrent connections, in addition to one for sending notifications
    /// and one for receiving them. The default is eight. Further calls wait for a free one.
    public var connections = 8

    /// Creates the default options.
    public init() {}

    func validate() throws(ArborError) {
      let times = [
        ("timeout", timeout), ("connectTimeout", connectTimeout),
        ("statementTimeout", statementTimeout),
      ]
      for (name, time) in times where time < .milliseconds(1) || time > .seconds(86_400) {
        throw ArborError(
          .invalidArgument,
          "PostgresLog.Options.\(name) is \(time). Use a duration from 1 millisecond to 1 day.")
      }
      guard (1...1000).contains(connections) else {
        throw ArborError(
          .invalidArgument, "PostgresLog.Options.connections is \(connections). Use 1 to 1000.")
      }
      try PostgresLog.check(schema, "PostgresLog.Options.schema", maximumLength: 63)
    }
  }

  /// Throws if a database cannot store a name unchanged.
  static func check(_ name: String, _ what: String, maximumLength: Int) throws(ArborError) {
    guard !name.isEmpty, name.utf8.count <= maximumLength, !name.utf8.contains(0) else {
      throw ArborError(
        .invalidArgument,
        "\(what) is not valid. Use 1 to \(maximumLength) bytes of UTF-8 without NUL.")
    }
  }
}
