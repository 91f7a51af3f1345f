internal import ArborLocks
package import LMDB

/// The positions of the entries of a database. LMDB finds entries by key only, so the keys at some
/// positions are recorded while entries are traversed.
package final class EntryPositions: Sendable {
  private static let distance = 1024

  private struct Mark: Sendable {
    let key: [UInt8]
    /// The number of values of the key before the position.
    let duplicates: Int
  }

  private let database: Database
  private let marks = Lock<[Mark]>([])

  package init(_ database: Database) { self.database = database }

  /// Calls `body` with each entry of a range of positions, as far as there are any.
  package func forEach(
    in range: Range<Int>, of environment: Environment, _ body: (Entry) throws -> Void
  ) throws {
    let transaction = try environment.beginRead()
    let cursor = try transaction.reader.cursor(database)
    let known = marks.withLock { $0 }
    let mark = min(range.lowerBound / Self.distance, known.count - 1)
    var position = max(0, mark) * Self.distance
    var entry = mark < 0 ? try cursor.first() : try seek(known[mark], cursor)
    var key: [UInt8] = []
    var duplicates = mark < 0 ? 0 : known[mark].duplicates
    while position < range.upperBound, let found = entry {
      if !key.isEmpty { duplicates = found.key.elementsEqual(key) ? duplicates + 1 : 0 }
      key = Array(found.key)
      if position.isMultiple(of: Self.distance) {
        let mark = Mark(key: key, duplicates: duplicates)
        marks.withLock { if $0.count == position / Self.distance { $0.append(mark) } }
      }
      if position >= range.lowerBound { try body(found) }
      position += 1
      entry = try cursor.next()
    }
  }

  private func seek(_ mark: Mark, _ cursor: borrowing Cursor) throws -> Entry? {
    var entry = try mark.key.withUnsafeBytes { try cursor.seekExact($0) }
    for _ in 0..<mark.duplicates where entry != nil { entry = try cursor.nextDuplicate() }
    return entry
  }
}
