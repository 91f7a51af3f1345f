import ArborModel
import ArborStore
import Foundation
import LMDB
import TestSupport
import Testing

/// Files of earlier formats are read as they are, and come over when they are opened for writing.
@Suite struct StoreOpenerEarlierFormatsTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path("office.arbor") }

  init() throws {
    folder = try TemporaryFolder()
    let file = try StoreEngine.open(StoreOpening(.file(path), model: OfficeModel.make()))
    defer { file.close() }
    let draft = Draft(file)
    try draft.insert("Tag", ["name": "first"])
    try draft.commit()
    try EarlierFormat.enter(file)
  }

  private func bytes() throws -> Data { try Data(contentsOf: URL(filePath: path)) }

  private func storedCatalog(_ file: StoreEngine) throws -> [UInt8] {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    let key = Array(StoreFormat.catalogKey.utf8)
    return try key.withUnsafeBytes {
      Array(try #require(try snapshot.reader.get(file.databases.arbor, key: $0)))
    }
  }

  private func version(_ file: StoreEngine) throws -> [UInt16] {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    let header = try StoreHeader.read(snapshot.reader, file.databases.arbor)
    return [header.majorVersion, header.minorVersion]
  }

  @Test func aReaderLeavesThemAsTheyAre() throws {
    let before = try bytes()
    var opening = StoreOpening(.file(path), model: try OfficeModel.make())
    opening.isReadOnly = true
    let file = try StoreEngine.open(opening)
    defer { file.close() }
    #expect(try file.check().isSound)
    #expect(try version(file) == [2, 2])
    #expect(file.schema.catalog.entries["Tag"]?.indexes["name"]?.storedName == "Tag/name")
    #expect(try bytes() == before)
  }

  @Test func aWriterBringsThemOver() throws {
    let file = try StoreEngine.open(StoreOpening(.file(path), model: OfficeModel.make()))
    defer { file.close() }
    #expect(try version(file) == [StoreFormat.majorVersion, StoreFormat.minorVersion])
    #expect(try storedCatalog(file) == CatalogCodec.encode(file.schema.catalog))
    #expect(file.modelGeneration == 1 && file.lastSequence == 1)
    #expect(try file.check().isSound)
    let draft = Draft(file)
    try draft.insert("Tag", ["name": "second"])
    try draft.commit()
    #expect(try file.check().recordCount == 2)
  }

  /// Whoever is refused can go back to the former library.
  @Test func aRefusedWriterLeavesThemAsTheyAre() throws {
    let before = try bytes()
    let other = try ManagedObjectModel {
      EntityDescription("Other") { AttributeDescription("name", .string) }
    }
    #expect(throws: StoreError.self) {
      try StoreEngine.open(StoreOpening(.file(path), model: other))
    }
    #expect(try bytes() == before)
  }

  @Test func aMigrationBringsThemOverByItself() throws {
    var model = try OfficeModel.make()
    let index = try #require(model.entities.firstIndex { $0.name == "Tag" })
    model.entities[index].attributes.append(
      AttributeDescription(name: "colour", type: .string, isOptional: true))
    let file = try StoreEngine.open(StoreOpening(.file(path), model: model))
    defer { file.close() }
    #expect(try version(file) == [StoreFormat.majorVersion, StoreFormat.minorVersion])
    #expect(try storedCatalog(file) == CatalogCodec.encode(file.schema.catalog))
    #expect(try file.check().isSound)
  }
}
