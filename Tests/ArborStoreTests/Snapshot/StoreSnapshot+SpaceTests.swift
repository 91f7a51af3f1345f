import ArborModel
import Foundation
import LMDB
import TestSupport
import Testing
import ArborStore

@Suite struct StoreSnapshotSpaceTests {
  private func space(_ file: StoreEngine) throws -> StoreSpace {
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    return try snapshot.space()
  }

  private func size(_ path: String) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
  }

  @Test("Every page of a file has a purpose or is free")
  func everyKindHasItsPages() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Photo") {
        AttributeDescription("title", .string, .indexed)
        AttributeDescription("image", .binary, .optional, .externalStorage)
        RelationshipDescription("others", to: "Photo", inverse: "others", .toMany)
      }
    }
    try TemporaryStore.use(model) { store in
      let file = store.file
      let empty = try space(file)
      #expect(empty.records == 0 && empty.indexes == 0 && empty.relationships == 0)
      #expect(empty.largeBinaries == 0 && empty.other > 0)
      #expect(empty.file == (try size(store.path)))
      let draft = Draft(file)
      for number in 0..<2000 {
        try draft.insert("Photo", ["title": .string("photo number \(number)")])
      }
      try draft.commit()
      let filled = try space(file)
      let statistics = try #require(
        try {
          let snapshot = try file.snapshot()
          defer { snapshot.close() }
          return try snapshot.indexes().first
        }())
      #expect(filled.indexes == statistics.bytes && filled.indexes > 10 * filled.pageSize)
      #expect(filled.records > 20 * filled.pageSize)
      #expect(filled.history > 0 || empty.history == filled.history)
      #expect(filled.file == (try size(store.path)))
      // Every page has one purpose or is free.
      #expect((filled.used + filled.free) % filled.pageSize == 0)
      #expect(filled.used + filled.free <= filled.file)
      try file.purge()
      let purged = try space(file)
      #expect(purged.records == 0 && purged.indexes == 0)
      #expect(purged.free > filled.records)
    }
  }

  @Test("The size of an index includes the nested trees of shared values")
  func sharedValuesCountWhereTheyBelong() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Task") { AttributeDescription("isDone", .boolean, .indexed) }
    }
    try TemporaryStore.use(model) { store in
      let draft = Draft(store.file)
      for number in 0..<6000 {
        try draft.insert("Task", ["isDone": .boolean(number % 2 == 0)])
      }
      try draft.commit()
      let space = try space(store.file)
      // 6,000 numbers of 5 bytes.
      #expect(space.indexes >= 30_000)
      let index = try #require(space.databases.first { $0.kind == .index })
      #expect(index.title == "index Task.isDone" && index.bytes == space.indexes)
      #expect(index.entries == 6000 && !index.isEstimated)
      // Root pages, names, the free list, the history and the model take few pages.
      #expect(space.other < 16 * space.pageSize)
    }
  }

  @Test("Compacting frees the predicted space, to within a few pages")
  func saysWhatCompactingGivesBack() throws {
    try TemporaryStore.use(OfficeModel.make()) { store in
      let file = store.file
      let draft = Draft(file)
      for number in 0..<3000 { try draft.insert("Tag", ["name": .string("tag \(number)")]) }
      try draft.commit()
      for _ in 0..<2 {
        let before = try space(file)
        try file.compact()
        let after = try space(file)
        #expect(abs(before.file - after.file - before.reclaimable) <= 16 * before.pageSize)
        #expect(after.reclaimable == 0)
        #expect(after.records == before.records && after.indexes == before.indexes)
        try file.purge()
      }
    }
  }
}
