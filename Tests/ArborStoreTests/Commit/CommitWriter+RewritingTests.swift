import ArborModel
@testable import ArborStore
import LMDB
import TestSupport
import Testing

/// Commits that rewrite the records of an entity because they delete many of them in many pages.
/// Each test ends with a check of the store.
@Suite struct CommitWriterRewritingTests {
  private func leafPages(_ file: StoreEngine) throws -> Int {
    let entity = try Draft(file).entity("Tag")
    let snapshot = try file.snapshot()
    defer { snapshot.close() }
    return try snapshot.reader.statistics(file.databases.records(entity.index)).leafPages
  }

  @Test("Rewritten records fill their pages")
  func whatStaysFillsItsPages() throws {
    var random = SeededRandom()
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      var tags = try (0..<8000).map { try draft.insert("Tag", ["name": .string("tag \($0)")]) }
      try draft.commit()
      let before = try leafPages(store.file)
      tags.shuffle(using: &random)
      let other = Draft(store.file)
      for tag in tags[..<4000] { try other.delete(tag) }
      for tag in tags[4000..<4100] { try other.update(tag, ["name": "renamed"]) }
      let added = try (0..<10).map { try other.insert("Tag", ["name": .string("new \($0)")]) }
      try other.commit()
      #expect(try leafPages(store.file) <= before / 2 + 3)
      let last = Draft(store.file)
      #expect(try last.value(tags[4050], "name") == "renamed")
      #expect(try last.value(added[9], "name") == "new 9")
      #expect(try last.value(tags[0], "name") == nil)
      // The cached end of the database is still valid.
      _ = try last.insert("Tag", ["name": "behind"])
      try last.commit()
    }
  }

  @Test("Deleting all objects of an entity frees all of its pages")
  func allMayGo() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      let tags = try (0..<3000).map { try draft.insert("Tag", ["name": .string("tag \($0)")]) }
      try draft.commit()
      let other = Draft(store.file)
      for tag in tags { try other.delete(tag) }
      try other.commit()
      #expect(try leafPages(store.file) == 0)
    }
  }

  @Test("Deletions of a contiguous range don't rewrite the records, and scattered ones do")
  func whatGoesInAStretchFreesItsPages() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let draft = Draft(store.file)
      let tags = try (0..<16_000).map { try draft.insert("Tag", ["name": .string("\($0)")]) }
      try draft.commit()
      let pages = try leafPages(store.file)
      let entity = try draft.entity("Tag")
      let snapshot = try store.file.snapshot()
      defer { snapshot.close() }
      let deletions = tags[..<6000].map { ChangeSet.RecordChange.delete($0, from: 1) }
      let writer = CommitWriter(
        store: store.file, workspace: try CommitWorkspace(store.file),
        header: try StoreHeader.read(snapshot.reader))
      let database = store.file.databases.records(entity.index)
      #expect(pages > 50)
      #expect(try !writer.isRewriteWorthwhile(deletions[...], database, snapshot.reader))
      let scattered = tags.enumerated().filter { $0.offset.isMultiple(of: 2) }
        .map { ChangeSet.RecordChange.delete($0.element, from: 1) }
      #expect(try writer.isRewriteWorthwhile(scattered[...], database, snapshot.reader))
    }
  }
}
