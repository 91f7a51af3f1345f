/// What the verification of a data file's pages found, and where.
package struct PageFinding: Sendable, Hashable, CustomStringConvertible {
  /// The page; nil where the whole file or database is meant.
  package let page: UInt64?
  /// The database that leads to the page; nil for what belongs to none.
  package let database: String?
  /// What is wrong, in a clause about the page or the database.
  package let what: String

  package var description: String {
    var parts: [String] = []
    if let page { parts.append("page \(page)") }
    if let database { parts.append("database \(database)") }
    let text = parts.isEmpty ? what : parts.joined(separator: ", ") + ": " + what
    return text.prefix(1).uppercased() + text.dropFirst() + "."
  }
}
