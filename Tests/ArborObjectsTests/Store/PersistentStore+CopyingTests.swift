import ArborModel
import Foundation
import TestSupport
import Testing

import ArborObjects

/// Copying and compacting a store that contexts are using.
@Suite struct PersistentStoreCopyingTests {
  private let folder: TemporaryFolder
  private let store: PersistentStore

  init() throws {
    folder = try TemporaryFolder()
    store = try PersistentStore(for: Office.classes, at: .path(folder.path("a.arbor")))
  }

  private func insert(_ names: [String], _ context: ManagedObjectContext) throws {
    for name in names { context.insert(Company.self).name = name }
    try context.commit()
  }

  private func size(_ path: String) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
  }

  /// Fills the file with about twenty megabytes and empties it again.
  private func fillAndEmpty(_ store: PersistentStore) throws {
    let text = String(repeating: "x", count: 8000)
    try insert((0..<2500).map { "\($0) \(text)" }, store.makeContext())
    try store.purge()
    try insert(["Ada"], store.makeContext())
  }

  @Test("Closing the last store of a file compacts it, unless that is disabled")
  func whatIsFreeGoesWithTheLastOpening() throws {
    let path = folder.path("a.arbor")
    try fillAndEmpty(store)
    let full = try size(path)
    #expect(full > 20 << 20)
    let other = try PersistentStore(at: .path(path))
    store.close()
    #expect(try size(path) == full)
    other.close()
    #expect(try size(path) < 1 << 20)
    var options = StoreOptions()
    options.compactsWhenClosed = false
    let again = try PersistentStore(for: Office.classes, at: .path(path), options: options)
    #expect(try again.makeContext().fetch(FetchRequest<Company>()).map(\.name) == ["Ada"])
    try fillAndEmpty(again)
    try again.check()
    again.close()
    #expect(try size(path) > 20 << 20)
  }

  @Test("Closing a store returns the pages that its journal has kept from being reused")
  func closingReturnsReplacedPages() throws {
    let path = folder.path("a.arbor")
    let context = store.makeContext()
    for number in 0..<300 { try insert(["company \(number)"], context) }
    #expect(FileManager.default.fileExists(atPath: path + "-journal"))
    let grown = try size(path)
    #expect(grown > 4 << 20)
    try store.check()
    store.close()
    #expect(try size(path) < grown / 4)
    #expect(!FileManager.default.fileExists(atPath: path + "-journal"))
  }

  @Test("Contexts, objects and results remain usable after a compaction")
  func contextsObjectsAndResultsGoOn() throws {
    let context = store.makeContext()
    try insert((0..<3000).map { "company \($0)" }, context)
    let ada = context.insert(Company.self)
    ada.name = "Ada"
    try context.commit()
    let passing = FetchRequest<Company>(predicate: "name BEGINSWITH 'company'")
    for company in try context.fetch(passing) { context.delete(company) }
    try context.commit()
    let results = try context.fetchedResults(FetchRequest<Company>(sortKeys: ["name"]))
    let other = store.makeContext()
    // A fault.
    let same = try #require(try other.object(with: ada.objectID) as? Company)
    // A pending insertion.
    let grace = context.insert(Company.self)
    grace.name = "Grace"
    let before = try size(folder.path("a.arbor"))
    let id = try store.uniqueIDs.next()
    try store.compact()
    #expect(try size(folder.path("a.arbor")) < before / 3)
    #expect(same.name == "Ada")
    #expect(results.count == 2)
    try context.commit()
    #expect(results.objects.map(\.name) == ["Ada", "Grace"])
    same.name = "Ada Lovelace"
    try other.commit()
    #expect(try context.mergeExternalCommits())
    #expect(ada.name == "Ada Lovelace")
    #expect(try store.uniqueIDs.next() > id)
    #expect(grace.objectID.number > 3001)
    try store.check()
    store.close()
  }

  @Test("A store can't be compacted within a snapshot")
  func aSnapshotStandsInTheWay() throws {
    let context = store.makeContext()
    try insert(["Ada"], context)
    do {
      try context.withSnapshot { try store.compact() }
      Issue.record("It compacted.")
    } catch let error as ArborError {
      #expect(error.code == .inUse)
      let path = folder.path("a.arbor")
      #expect(
        error.message == "\(path) is in use by another process or store. Close the store there, "
          + "then try again.")
    }
    try store.compact()
    #expect(try context.count(FetchRequest<Company>()) == 1)
    store.close()
  }

  @Test("A store can be copied while others write to it")
  func copiesWhileOthersWrite() throws {
    let context = store.makeContext()
    try insert(["Ada", "Grace"], context)
    let writer = Thread { [store] in
      let context = store.makeContext()
      for number in 0..<200 where !store.isClosed {
        context.insert(Company.self).name = "writer \(number)"
        try? context.commit()
      }
    }
    writer.start()
    for number in 0..<4 {
      let url = folder.url.appending(path: "copy \(number).arbor")
      try store.copy(to: url, compacting: number % 2 == 0)
      let copy = try PersistentStore(at: .file(url), classes: Office.classes)
      #expect(copy.id == store.id)
      let companies = try copy.makeContext().fetch(FetchRequest<Company>(sortKeys: ["name"]))
      #expect(companies.prefix(2).map(\.name) == ["Ada", "Grace"])
      try copy.check()
      copy.close()
    }
    while !writer.isFinished { Thread.sleep(forTimeInterval: 0.001) }
    store.close()
  }

  @Test("A failed copy reports the cause")
  func saysWhyItDoesNotCopy() throws {
    func message(_ url: URL) -> String {
      do { try store.copy(to: url) } catch { return "\(error.code): \(error.message)" }
      return "nothing"
    }
    let path = folder.path("a.arbor")
    #expect(
      message(URL(filePath: path))
        == "inputOutput: \(path) already exists and will not be overwritten. Choose another path.")
    let missing = folder.path("no/a.arbor")
    #expect(
      message(URL(filePath: missing))
        == "inputOutput: copy of \(missing) failed: No such file or directory. Check the path and "
        + "its permissions.")
    let remote = try #require(URL(string: "https://example.com/a.arbor"))
    #expect(
      message(remote).hasPrefix("invalidArgument: https://example.com/a.arbor is not the URL of"))
    store.close()
    #expect(
      message(URL(filePath: folder.path("b")))
        == "closed: The store has been closed. Open it again.")
  }
}
