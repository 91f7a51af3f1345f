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
