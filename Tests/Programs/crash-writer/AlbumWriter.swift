import ArborData
import Foundation

/// A writer of album rounds and an importer of pictures that acknowledges each commit.
struct AlbumWriter {
  let store: PersistentStore
  private let context: ManagedObjectContext
  private let acknowledge: @Sendable (String) -> Void

  /// The numbers of the pictures in the seed or import document.
  static let foreignPictures = 1000..<1040
  private static let batchSize = 10
  /// Returns whether `count` imported pictures make up whole batches.
  static func isWhole(_ count: Int) -> Bool { count.isMultiple(of: batchSize) }

  /// Opens the album at a path, or creates it.
  init(path: String, acknowledge: @escaping @Sendable (String) -> Void) throws {
    store = try Self.open(path)
    context = store.makeContext()
    self.acknowledge = acknowledge
    if try context.fetchOne(FetchRequest<Album>()) == nil {
      _ = context.insert(Album.self)
      try context.commit()
    }
    try acknowledge("round \(album.round)")
  }

  static func open(_ path: String) throws -> PersistentStore {
    try PersistentStore(for: [Album.self, Picture.self], at: .file(URL(filePath: path)))
  }

  private var album: Album {
    get throws {
      guard let found = try context.fetchOne(FetchRequest<Album>()) else {
        throw LedgerDefect("the album is gone")
      }
      return found
    }
  }

  /// Commits the rounds that follow the last one.
  func write(rounds: Int, seed: UInt64) throws {
    let album = try album
    var pictures = album.pictures
    // A picture that cannot be read would be missing when the writer continues.
    guard pictures.count == AlbumState(seed: seed, rounds: album.round).pictures.count else {
      throw LedgerDefect("the album lacks pictures")
    }
    for number in (album.round + 1)...(album.round + rounds) {
      album.round = number
      for change in AlbumState.changes(of: number, seed: seed, count: pictures.count) {
        apply(change, to: &pictures)
        album.pictures = pictures
      }
      try context.commit()
      acknowledge("round \(number)")
    }
  }

  private func apply(_ change: AlbumState.Change, to pictures: inout [Picture]) {
    switch change {
    case .insert(let number, let index):
      let picture = context.insert(Picture.self)
      picture.number = number
      picture.image = AlbumState.image(number, version: 0)
      pictures.insert(picture, at: index)
    case .move(let from, let to): pictures.insert(pictures.remove(at: from), at: to)
    case .replace(let index):
      let picture = pictures[index]
      picture.version += 1
      picture.image = AlbumState.image(picture.number, version: picture.version)
    case .remove(let index): context.delete(pictures.remove(at: index))
    }
  }

  // MARK: Documents

  /// Writes the seed or import document for an album next to it.
  static func writeDocument(for path: String, ofSeed isSeed: Bool) throws {
    let pictures = foreignPictures.map { number in
      let image = AlbumState.image(number, version: 1).base64EncodedString()
      return #"{"number": \#(number), "version": 1, "image": "\#(image)"}"#
    }
    let list = "[\(pictures.joined(separator: ",\n"))]"
    let text = isSeed ? #"{"Picture": \#(list)}"# : list
    try Data(text.utf8).write(to: document(for: path))
  }

  private static func document(for path: String) -> URL { URL(filePath: path + ".json") }

  /// Seeds the album once.
  func seed(_ path: String) throws {
    try context.seedOnce("pictures", from: .file(Self.document(for: path)))
    acknowledge("brought \(Self.foreignPictures.count)")
  }

  /// Imports the pictures in batches and acknowledges the number committed so far.
  func importPictures(_ path: String) async throws {
    var options = ImportOptions()
    options.batchSize = Self.batchSize
    let steps = store.importObjects(
      from: .file(Self.document(for: path)), as: Picture.self, options: options)
    for try await step in steps { acknowledge("brought \(step.items)") }
  }

  /// Returns the number of the document's pictures in a store.
  static func countBrought(_ store: PersistentStore) throws -> Int {
    try store.makeContext().count(
      FetchRequest<Picture>(predicate: "number >= \(foreignPictures.lowerBound)"))
  }
}
