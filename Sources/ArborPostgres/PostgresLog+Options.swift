internal import ArborModel

extension PostgresLog {
  /// How a log deals with its servers.
  public struct Options: Sendable, Hashable {
    /// How long a call tries altogether, through lost connections and changes of the server that
    /// is written to; ten seconds unless said otherwise.
    ///
    /// A call that moves much gets a second more for each MiB, and calls that move snapshots have
    /// this time for each part of 1 MiB.
    public var timeout: Duration = .seconds(10)
    /// How long one server is waited for while connecting, before the next one is tried; two
    /// seconds unless this, or `connect_timeout` in the connection string, says otherwise. Looking
    /// up a host's name takes the system's own time.
    public var connectTimeout: Duration = .seconds(2)
    /// How long a server works at one statement before it gives it up; four seconds unless said
    /// otherwise. An answer that takes a second longer is waited for no more.
    public var statementTimeout: Duration = .seconds(4)
    /// The schema of the log's tables, which is made where it is missing; `public` unless said
    /// otherwise.
    public var schema = "public"
    /// The most connections that are open at once, besides one that sends news and one that listens
    /// for them; eight unless said otherwise. Further calls wait for one.
    public var connections = 8

    /// The usual options.
    public init() {}

    func validate() throws(ArborError) {
      let times = [
        ("timeout", timeout), ("connectTimeout", connectTimeout),
        ("statementTimeout", statementTimeout),
      ]
      for (name, time) in times where time < .milliseconds(1) || time > .seconds(86_400) {
        throw ArborError(
          .invalidArgument,
          "PostgresLog.Options.\(name) is \(time). Use a millisecond to a day.")
      }
      guard (1...1000).contains(connections) else {
        throw ArborError(
          .invalidArgument, "PostgresLog.Options.connections is \(connections). Use 1 to 1000.")
      }
      try PostgresLog.check(schema, "PostgresLog.Options.schema", longest: 63)
    }
  }

  /// Refuses names that a database does not keep as they are.
  static func check(_ name: String, _ what: String, longest: Int) throws(ArborError) {
    guard !name.isEmpty, name.utf8.count <= longest, !name.utf8.contains(0) else {
      throw ArborError(
        .invalidArgument, "\(what) is not valid. Use 1 to \(longest) bytes of UTF-8 without NUL.")
    }
  }
}
