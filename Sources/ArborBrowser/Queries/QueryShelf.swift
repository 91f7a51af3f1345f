internal import ArborModel
package import Foundation

/// The queries that a user keeps for a store: named ones, and the most recent ones.
///
/// They are stored in the user's folders of the XDG base directory specification, in two files per
/// store that only the user can read.
package struct QueryShelf: Hashable, Sendable {
  private static let maximumHistoryLength = 100

  private let named: UserFile
  private let recent: UserFile

  /// - Parameter variables: The environment variables that name the folders. Relative paths are
  ///   ignored, as the specification requires.
  package init(
    store: UUID, variables: [String: String] = ProcessInfo.processInfo.environment
  ) {
    func file(_ variable: String, _ fallback: String, _ folder: String) -> UserFile {
      let name = "lmdb-inspect/\(folder)/\(store.uuidString.lowercased()).json"
      let home = variables["HOME"].map { "\($0)/\(fallback)" }
      let base = [variables[variable], home].compactMap { $0 }.first { $0.hasPrefix("/") }
      return UserFile(
        path: base.map { "\($0)/\(name)" },
        advice: "The folder for \(folder) is unknown. Set \(variable).")
    }
    named = file("XDG_CONFIG_HOME", ".config", "queries")
    recent = file("XDG_STATE_HOME", ".local/state", "history")
  }

  /// Returns the named queries.
  package func queries() throws(UserFileError) -> [String: SavedQuery] {
    try named.contents([String: SavedQuery].self) ?? [:]
  }

  /// Returns the recent queries, newest first.
  package func history() throws(UserFileError) -> [SavedQuery] {
    try recent.contents([SavedQuery].self) ?? []
  }

  /// Returns the query with a name.
  ///
  /// - Throws: `ArborError` `unknownName` with the existing names; ``UserFileError``.
  package func query(named name: String) throws -> SavedQuery {
    let queries = try queries()
    if let query = queries[name] { return query }
    let names = queries.keys.sorted()
    throw ArborError(
      .unknownName,
      "There is no query “\(name)”." + NearestName.hint(name, in: names)
        + (names.isEmpty
          ? " No queries are saved."
          : " The saved queries are \(names.joined(separator: ", "))."))
  }

  package func save(_ query: SavedQuery, as name: String) throws(UserFileError) {
    try named.change([:]) { (queries: inout [String: SavedQuery]) in queries[name] = query }
  }

  package func remove(_ name: String) throws {
    _ = try query(named: name)
    try named.change([:]) { (queries: inout [String: SavedQuery]) in queries[name] = nil }
  }

  /// Adds a query to the history, or moves it to its beginning.
  package func remember(_ query: SavedQuery) throws(UserFileError) {
    try recent.change([]) { (history: inout [SavedQuery]) in
      history.removeAll { $0 == query }
      history.insert(query, at: 0)
      history.removeLast(max(0, history.count - Self.maximumHistoryLength))
    }
  }

  package func forget() throws(UserFileError) { try recent.remove() }
}
