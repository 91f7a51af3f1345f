import ArborData
import Foundation

/// The expected contents of an album after a number of rounds; see ``LedgerState``.
struct AlbumState: Equatable, Sendable {
  struct Item: Equatable, Sendable {
    let number: Int
    var version = 0
  }

  /// A step of a commit.
  enum Change: Sendable {
    case insert(number: Int, at: Int)
    case move(from: Int, to: Int)
    /// Replaces the picture's image with its next version.
    case replace(at: Int)
    case remove(at: Int)
  }

  private(set) var round = 0
  private(set) var pictures: [Item] = []

  /// Creates the state after the first `rounds` commits.
  init(seed: UInt64, rounds: Int) {
    while round < rounds {
      let changes = Self.changes(of: round + 1, seed: seed, count: pictures.count)
      round += 1
      for change in changes { apply(change) }
    }
  }

  /// Reads the album from a store; `nil` if it doesn't contain one yet.
  ///
  /// - Throws: ``LedgerDefect`` if the album's parts contradict each other.
  init?(reading store: PersistentStore) throws {
    let context = store.makeContext()
    let albums = try context.fetch(FetchRequest<Album>())
    guard let album = albums.first else { return nil }
    guard albums.count == 1 else { throw LedgerDefect("\(albums.count) albums") }
    round = album.round
    for picture in try context.fetch(FetchRequest<Picture>()) {
      guard picture.image == Self.image(picture.number, version: picture.version) else {
        throw LedgerDefect("picture \(picture.number) has the image of another")
      }
    }
    pictures = album.pictures.map { Item(number: $0.number, version: $0.version) }
    guard
      try context.count(FetchRequest<Picture>(predicate: "album == \(album)"))
        == pictures.count
    else { throw LedgerDefect("the pictures and their order differ") }
  }

  /// Returns the steps of a round's commit to an album of `count` pictures.
  static func changes(of round: Int, seed: UInt64, count: Int) -> [Change] {
    var random = RandomNumbers(seed: seed &+ UInt64(round) &* 0x9E37_79B9_7F4A_7C15)
    var changes: [Change] = []
    var count = count
    for added in 0..<3 {
      changes.append(
        .insert(number: 3 * round + added, at: .random(in: 0...count, using: &random)))
      count += 1
    }
    for _ in 0..<2 {
      let (from, to) = (0..<count, 0..<count)
      changes.append(
        .move(from: .random(in: from, using: &random), to: .random(in: to, using: &random)))
    }
    changes.append(.replace(at: .random(in: 0..<count, using: &random)))
    if count > 8 {
      for _ in 0..<2 {
        changes.append(.remove(at: .random(in: 0..<count, using: &random)))
        count -= 1
      }
    }
    return changes
  }

  private mutating func apply(_ change: Change) {
    switch change {
    case .insert(let number, let index): pictures.insert(Item(number: number), at: index)
    case .move(let from, let to): pictures.insert(pictures.remove(at: from), at: to)
    case .replace(let index): pictures[index].version += 1
    case .remove(let index): pictures.remove(at: index)
    }
  }

  /// Returns an image, small enough to be stored in its record or large enough for pages of its
  /// own.
  static func image(_ number: Int, version: Int) -> Data {
    let sizes = [0, 60, 900, 5000, 30_000]
    let text = Array("\(number).\(version) ".utf8)
    let size = sizes[(number + version) % sizes.count]
    return Data((0..<size).map { text[$0 % text.count] })
  }
}
