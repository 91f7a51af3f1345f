internal import ArborModel

/// A query as a user has written it. Lists are comma-separated texts.
package struct SavedQuery: Codable, Hashable, Sendable {
  package var entity: String
  package var predicate: String?
  package var sort: [String] = []
  package var limit: Int?
  package var columns: [String] = []
  package var group: [String] = []
  package var having: String?
  /// Whether equal rows are returned once. `nil` in files of former versions, like `having`.
  package var isDistinct: Bool?

  package init(entity: String, predicate: String? = nil) {
    self.entity = entity
    self.predicate = predicate
  }

  /// The arguments of `query` after the file, as a shell reads them.
  package var arguments: String {
    var words = [entity] + (predicate.map { [$0] } ?? [])
    for list in sort { words += ["--sort", list] }
    if let limit { words += ["--limit", String(limit)] }
    for list in columns { words += ["--columns", list] }
    for list in group { words += ["--group", list] }
    if let having { words += ["--having", having] }
    if isDistinct == true { words.append("--distinct") }
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
