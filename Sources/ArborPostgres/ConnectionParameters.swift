internal import ArborModel
internal import CPostgres

/// The contents of a connection string: the servers in order, and the parameters for each.
struct ConnectionParameters: Sendable {
  /// The parameters for each server, as if the connection string named only that one. libpq tries
  /// the next server itself if one refuses but, in non-blocking mode, not if one fails to respond.
  let servers: [[String: String]]
  /// The database and the servers, for messages. Contains no password.
  let name: String
  /// The connection timeout per server in seconds, or `nil` if the string contains none.
  let connectTimeout: Int?

  /// - Parameter string: `host=a,b dbname=staff` or `postgresql://a,b/staff`, as libpq parses it.
  /// - Throws: `ArborError` `invalidArgument`. The message never quotes the string, because any
  ///   part of it may be a password.
  init(_ string: String) throws(ArborError) {
    guard Self.hasPlainPassword(string), var options = Self.options(of: string) else {
      throw ArborError(
        .invalidArgument,
        "The log's connection string is not a valid libpq connection string. Use \"host=a,b "
          + "dbname=staff\" and put values that contain spaces in single quotes, or use "
          + "\"postgresql://user@a,b/staff\" and percent-encode characters such as @ : / in the "
          + "password.")
    }
    try Self.checkTarget(&options)
    let hosts = Self.list(options["host"])
    let addresses = Self.list(options["hostaddr"])
    let ports = Self.list(options["port"])
    let count = max(hosts.count, addresses.count, 1)
    guard hosts.isEmpty || addresses.isEmpty || hosts.count == addresses.count,
      ports.count <= 1 || ports.count == count,
      ports.allSatisfy({ $0.isEmpty || UInt16($0) != nil })
    else {
      throw ArborError(
        .invalidArgument,
        "The hosts, addresses and ports in the log's connection string don't match. Specify one "
          + "address and one port for each host, or the same numeric port for all hosts.")
    }
    for (key, value) in Self.defaults where options[key] == nil { options[key] = value }
    connectTimeout = options["connect_timeout"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
    servers = (0..<count).map { index in
      var server = options
      if !hosts.isEmpty { server["host"] = hosts[index] }
      if !addresses.isEmpty { server["hostaddr"] = addresses[index] }
      if !ports.isEmpty { server["port"] = ports.count == 1 ? ports[0] : ports[index] }
      return server
    }
    name = Self.name(of: servers, database: options["dbname"])
  }

  private static func name(of servers: [[String: String]], database: String?) -> String {
    let ends = servers.map { server in
      let host = server["host"] ?? server["hostaddr"] ?? ""
      guard let port = server["port"], !port.isEmpty else { return host }
      return "\(host):\(port)"
    }
    let listed = ends.filter { !$0.isEmpty }.joined(separator: ",")
    return "PostgreSQL" + (database.map { " database \($0)" } ?? "")
      + (listed.isEmpty ? "" : " on \(listed)")
  }

  /// The defaults for parameters missing from the string. With these keepalives, a server that has
  /// vanished is noticed within half a minute, even while no response is awaited.
  private static let defaults = [
    "client_encoding": "UTF8", "fallback_application_name": "ArborData", "keepalives_idle": "10",
    "keepalives_interval": "5", "keepalives_count": "3",
  ]

  /// Makes a server that accepts writes the default target, and throws if the string requests a
  /// read-only one.
  private static func checkTarget(_ options: inout [String: String]) throws(ArborError) {
    let given = options["target_session_attrs"]
    guard ["read-only", "standby", "prefer-standby"].contains(given) else {
      options["target_session_attrs"] = given ?? "read-write"
      return
    }
    throw ArborError(
      .invalidArgument,
      "The log's connection string requests read-only servers. Remove target_session_attrs to use "
        + "the primary server.")
  }

  /// Returns whether the password in a URI is free of unescaped `@` and `/`. Otherwise libpq would
  /// parse the rest of it as part of the host name, which appears in messages.
  private static func hasPlainPassword(_ string: String) -> Bool {
    guard let scheme = string.prefixMatch(of: #/postgres(?:ql)?:\/\//#) else { return true }
    var rest = string[scheme.range.upperBound...]
    if let end = rest.firstIndex(where: { $0 == "@" || $0 == "/" }), rest[end] == "@" {
      rest = rest[end...].dropFirst()
    }
    return !rest.prefix { $0 != "?" }.contains("@")
  }

  private static func list(_ text: String?) -> [String] {
    guard let text, !text.isEmpty else { return [] }
    return text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }

  /// Returns the options in a string, or `nil` if libpq cannot parse it.
  private static func options(of string: String) -> [String: String]? {
    // libpq would stop parsing at a NUL.
    guard !string.utf8.contains(0), let parsed = unsafe PQconninfoParse(string, nil) else {
      return nil
    }
    // The array is terminated by a null keyword. Its strings are valid until it is freed.
    defer { unsafe PQconninfoFree(parsed) }
    var options: [String: String] = [:]
    var next = unsafe parsed
    while let keyword = unsafe next.pointee.keyword {
      if let value = unsafe next.pointee.val {
        unsafe options[String(cString: keyword)] = unsafe String(cString: value)
      }
      unsafe next += 1
    }
    return options
  }
}
