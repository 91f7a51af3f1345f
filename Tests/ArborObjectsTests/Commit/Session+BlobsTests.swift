import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborObjects

private final class Photo: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Photo", className: "Photo",
    attributes: [
      .init(name: "title", type: .string, defaultValue: ""),
      .init(name: "image", type: .binary, isOptional: true, allowsExternalStorage: true),
      .init(
        name: "notes", type: .transformable("tests.Notes"), isOptional: true,
        allowsExternalStorage: true),
    ],
    relationships: [.init(name: "cover", destination: "Photo")])

  var title: String {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var image: Data? {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var notes: [String]? {
    get { _transformed(2) }
    set { _setTransformed(2, newValue) }
  }
  var cover: Photo? {
    get { _toOne(0) }
    set { _setToOne(0, newValue) }
  }
}

@Suite struct SessionBlobsTests {
  init() {
    AttributeTransformers.register(CodableTransformer<[String]>(), named: "tests.Notes")
  }

  private func use(inMemory: Bool = true, _ body: (PersistentStore) throws -> Void) throws {
    try ObjectStore.use(
      ManagedObjectModel(for: [Photo.self]), inMemory: inMemory, classes: [Photo.self], body)
  }

  private func bytes(_ count: Int, _ seed: UInt8 = 0) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) &+ seed })
  }

  @Test(
    "Large binaries survive commits and are visible to other contexts", arguments: [true, false])
  func valuesComeBack(inMemory: Bool) throws {
    try use(inMemory: inMemory) { store in
      let context = store.makeContext()
      let photo = context.insert(Photo.self)
      photo.image = bytes(200_000)
      photo.notes = (0..<3000).map { "note \($0)" }
      #expect(photo.image == bytes(200_000))
      try context.commit()
      let size = photo.currentRecord.count
      #expect(size < 1000)
      #expect(photo.image == bytes(200_000) && photo.notes?.count == 3000)
      #expect(photo["image"] == .binary(bytes(200_000)) && !context.hasChanges)

      let other = store.makeContext()
      let same = try #require(try other.objects(Photo.self).first())
      #expect(same.image == bytes(200_000) && same.notes?[2999] == "note 2999")
      #expect(same.committedValues(for: ["image"]) == ["image": .binary(bytes(200_000))])
      same.title = "x"
      try other.commit()
      same.image = bytes(20_000, 3)
      #expect(same.image == bytes(20_000, 3))
      try other.commit()
      #expect(photo.image == bytes(20_000, 3))
      same.image = bytes(100)
      same.notes = nil
      try other.commit()
      #expect(same.image == bytes(100) && photo.image == bytes(100))
      other.delete(same)
      try other.commit()
    }
  }

  @Test("Rollback and failed commits keep large binaries")
  func nothingIsLostBeforeTheCommit() throws {
    try use { store in
      let context = store.makeContext()
      let photo = context.insert(Photo.self)
      photo.image = bytes(50_000)
      try context.commit()
      photo.image = bytes(60_000, 1)
      context.rollback()
      #expect(photo.image == bytes(50_000))
      context.delete(photo)
      context.rollback()
      #expect(photo.image == bytes(50_000))
      photo.image = nil
      #expect(photo.image == nil)
      context.rollback()
      // A failed commit leaves the value in the working record.
      photo.image = bytes(70_000, 2)
      photo.cover = context.insert(Photo.self)
      photo.title = String(repeating: "x", count: 3)
      let cover = try #require(photo.cover)
      cover.image = bytes(16_384)
      let others = store.makeContext()
      let same = try #require(try others.existingObject(with: photo.objectID) as? Photo)
      same.title = "other"
      try others.commit()
      context.automaticallyMergesCommits = false
      try? context.commit()
      #expect(photo.image == bytes(70_000, 2) && cover.image == bytes(16_384))
      context.mergePolicy = .mergeByPropertyObjectWins
      try context.commit()
      #expect(photo.image == bytes(70_000, 2) && cover.image == bytes(16_384))
      #expect(cover.currentRecord.count < 1000)
    }
  }

  @Test("Predicates and rows use the values of large binaries")
  func predicatesAndRowsSeeTheValue() throws {
    try use { store in
      let context = store.makeContext()
      let (large, small) = (context.insert(Photo.self), context.insert(Photo.self))
      let empty = context.insert(Photo.self)
      large.image = bytes(40_000)
      small.image = bytes(10)
      empty.cover = large
      try context.commit()
      func ids(_ predicate: FetchPredicate) throws -> [ObjectID] {
        try store.makeContext().objects(Photo.self).filter(predicate).fetchIDs()
      }
      #expect(try ids("image == nil") == [empty.objectID])
      #expect(try ids("image != nil") == [large.objectID, small.objectID])
      #expect(try ids("image == \(bytes(40_000))") == [large.objectID])
      #expect(try ids("image IN \([bytes(40_000), bytes(10)])").count == 2)
      #expect(try ids("image == \(bytes(10))") == [small.objectID])
      #expect(try ids("cover.image == \(bytes(40_000))") == [empty.objectID])
      #expect(try ids("cover != nil AND cover.image != image") == [empty.objectID])
      #expect(try FetchPredicate("image == \(bytes(40_000))").matches(large))
      #expect(try FetchPredicate("image == \(bytes(10))").matches(large) == false)
      // Pending values are still in the records.
      small.image = bytes(50_000, 9)
      #expect(try context.count("Photo", matching: "image == \(bytes(50_000, 9))") == 1)
      #expect(try context.objects(Photo.self).value(of: .function("count", of: "image")) == 2)

      var request = FetchRequest<Photo>()
      request.propertiesToFetch = ["image"]
      request.predicate = "image != nil"
      let rows = try store.makeContext().fetchRows(request)
      #expect(
        Set(rows.map { $0["image"] }) == [.binary(bytes(40_000)), .binary(bytes(10))])
      let images = [large, small].sorted {
        ($0.image ?? Data()).lexicographicallyPrecedes($1.image ?? Data())
      }
      #expect(try context.objects(Photo.self).order(by: "image").fetch() == [empty] + images)
      #expect(try context.objects(Photo.self).order(by: "-cover.image").first() == empty)
    }
  }

  @Test("Undo restores large binaries of earlier commits")
  func undoBringsBinariesBackAcrossCommits() throws {
    try use { store in
      let context = store.makeContext()
      context.undoHistory = UndoHistory()
      let id = context.insert(Photo.self).objectID
      func image() throws -> Data? {
        try (context.existingObject(with: id) as? Photo)?.image
      }
      func stored() throws -> Data? {
        let other = store.makeContext()
        return try (other.existingObject(with: id) as? Photo)?.image
      }
      try context.commit()
      let images = [bytes(30_000), bytes(40_000, 1), bytes(10), bytes(100_000, 2)]
      for data in images {
        (try context.existingObject(with: id) as? Photo)?.image = data
        try context.commit()
      }
      context.delete(try context.existingObject(with: id))
      try context.commit()
      for data in images.reversed() {
        context.undo()
        #expect(try image() == data)
        #expect(try context.count("Photo", matching: "image == \(data)") == 1)
        try context.commit()
        #expect(try stored() == data)
        try store.check()
      }
      for data in images.dropFirst() {
        context.redo()
        #expect(try image() == data)
        try context.commit()
        #expect(try stored() == data)
      }
      context.redo()
      try context.commit()
      #expect(try context.count("Photo") == 0)
      // Undoes two steps in one commit, and rolls back what was undone.
      context.undo()
      context.undo()
      #expect(try image() == images[2])
      context.rollback()
      #expect(try context.count("Photo") == 0)

      context.undoHistory = nil
      context.insert(Photo.self)
      try context.commit()
      #expect(context.session.blobs.retired.isEmpty)
    }
  }

  @Test("Binary values are released when the undo history drops them")
  func whatTheHistoryForgetsIsLetGo() throws {
    try use { store in
      let context = store.makeContext()
      context.undoHistory = UndoHistory(levelLimit: 1)
      let photo = context.insert(Photo.self)
      for seed in 0..<4 as Range<UInt8> {
        photo.image = bytes(30_000, seed)
        try context.commit()
        #expect(context.session.blobs.retired.count == (seed == 0 ? 0 : 1))
      }
      context.undo()
      #expect(photo.image == bytes(30_000, 2))
      try context.commit()
      let other = store.makeContext()
      #expect(try other.fetchOne(Photo.self)?.image == bytes(30_000, 2))
      context.redo()
      #expect(photo.image == bytes(30_000, 3))
      try context.commit()
    }
  }

  @Test("A binary value that wasn't read before is read in its newest version")
  func othersReadWhatIsThereByThen() throws {
    try use { store in
      let (left, right) = (store.makeContext(), store.makeContext())
      let photo = left.insert(Photo.self)
      photo.image = bytes(30_000)
      try left.commit()
      right.automaticallyMergesCommits = false
      let same = try #require(try right.objects(Photo.self).first())
      #expect(same.title == "")
      photo.image = bytes(50_000, 1)
      try left.commit()
      #expect(same.image == bytes(50_000, 1))
      left.delete(photo)
      try left.commit()
      #expect(same.image == Data() && same["image"] == nil)
      try right.commit()
    }
  }

  @Test("Random edits, commits, rollbacks and reopenings agree with a dictionary", arguments: 0..<3)
  func aDictionaryKnowsNoBetter(place: Int) throws {
    var random = SeededRandom(seed: UInt64(place) &* 977 &+ 11)
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "photos.arbor")
    var committed: [ObjectID: Data?] = [:]
    for _ in 0..<6 {
      let store = try PersistentStore(
        model: ManagedObjectModel(for: [Photo.self]), at: .file(file), classes: [Photo.self])
      defer { store.close() }
      let context = store.makeContext()
      var pending = committed
      for _ in 0..<40 {
        let id = pending.keys.sorted { $0.number < $1.number }.randomElement(using: &random)
        let photo = try id.map { try #require(try context.existingObject(with: $0) as? Photo) }
        let length = [0, 100, 16_383, 16_384, 65_520, 90_000].randomElement(using: &random) ?? 0
        let data = bytes(length, UInt8.random(in: 0...255, using: &random))
        switch (Int.random(in: 0..<10, using: &random), photo) {
        case (0, let photo?):
          context.delete(photo)
          pending[photo.objectID] = nil
        case (1, let photo?):
          photo.image = nil
          pending[photo.objectID] = .some(nil)
        case (2...4, let photo?):
          photo.image = data
          pending[photo.objectID] = data
        case (5, let photo?): photo.title = "\(length)"
        case (6, _):
          try context.commit()
          committed = pending
        case (7, _):
          context.rollback()
          pending = committed
        default:
          let photo = context.insert(Photo.self)
          photo.image = data
          pending[photo.objectID] = data
        }
        let (expected, seed) = (pending, random.seed)
        for photo in try context.objects(Photo.self).fetch() {
          #expect(photo.image == expected[photo.objectID] ?? Data([9, 9]), "seed \(seed)")
        }
      }
      try context.commit()
      committed = pending
      try store.check()
    }
  }
}
