import ArborModel
import Foundation

/// The queries that a user keeps for a store: named ones, and the most recently typed ones.
///
/// They are stored in the user's settings folder, in one file per store, which only the user can
/// read.
struct QueryShelf {
  private static let maximumHistoryLength = 100

  private let named: UserFile
  private let recent: UserFile

  init(store: UUID) {
    let name = "\(store.uuidString.lowercased()).json"
    named = UserFile(.settings, "queries/\(name)")
    recent = UserFile(.state, "history/\(name)")
  }

  /// The named queries. A file that cannot be used is reported and ignored.
  var queries: [String: SavedQuery] { named.contents([String: SavedQuery].self) ?? [:] }

  /// The recent queries, newest first. A file that cannot be used is reported and ignored.
  var history: [SavedQuery] { recent.contents([SavedQuery].self) ?? [] }

  /// Returns the query with a name, or throws an error that contains the existing names.
  func query(named name: String) throws -> SavedQuery {
    let queries = queries
    if let query = queries[name] { return query }
    let names = queries.keys.sorted()
    throw InspectError.notFound(
      "There is no query “\(name)”." + NearestName.hint(name, in: names)
        + (names.isEmpty ? " Save one with “query --save”." : " “queries” lists them."))
  }

  func save(_ query: SavedQuery, as name: String) throws {
    try named.change([:]) { (queries: inout [String: SavedQuery]) in queries[name] = query }
  }

  func remove(_ name: String) throws {
    _ = try query(named: name)
    try named.change([:]) { (queries: inout [String: SavedQuery]) in queries[name] = nil }
  }

  /// Adds a query to the history. A failure is only reported, because the query has succeeded.
  func remember(_ query: SavedQuery) {
    do {
      try recent.change([]) { (history: inout [SavedQuery]) in
        history.removeAll { $0 == query }
        history.insert(query, at: 0)
        history.removeLast(max(0, history.count - Self.maximumHistoryLength))
      }
    } catch {
      StandardStream.report("lmdb-inspect: The query history was not saved. \(error)")
    }
  }

  func forget() throws { try recent.remove() }
}

/// A query as it was given on the command line.
struct SavedQuery: Codable, Equatable {
  var entity: String
  var predicate: String?
  var sort: [String] = []
  var limit: Int?
  var columns: [String] = []
  var group: [String] = []

  /// The arguments after the file, as a shell reads them.
  var arguments: String {
    var words = [entity] + (predicate.map { [$0] } ?? [])
    for list in sort { words += ["--sort", list] }
    if let limit { words += ["--limit", String(limit)] }
    for list in columns { words += ["--columns", list] }
    for list in group { words += ["--group", list] }
    return words.map(Self.quoted).joined(separator: " ")
  }

  private static func quoted(_ word: String) -> String {
    let plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,/@"
    if !word.isEmpty, word.allSatisfy(plain.contains) { return word }
    // Not by characters, because a combining mark joins the quote before it.
    let parts = word.unicodeScalars.split(separator: "'", omittingEmptySubsequences: false)
    return "'" + parts.map { String($0) }.joined(separator: "'\\''") + "'"
  }
}
