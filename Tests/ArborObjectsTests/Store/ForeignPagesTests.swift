import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborObjects
@testable import ArborStore

/// The salvage of a file some of whose pages are from another store with the same model, as after a
/// block was written to the wrong place.
@Suite struct ForeignPagesTests {
  private let folder: TemporaryFolder
  private let model: ManagedObjectModel
  private let own: Pages
  private let foreign: Pages

  init() throws {
    folder = try TemporaryFolder()
    model = try ManagedObjectModel {
      EntityDescription("Note") { AttributeDescription("text", .string) }
    }
    own = try Self.pages("own", model, folder)
    foreign = try Self.pages("its", model, folder)
    try #require(own.leaves == foreign.leaves && own.leaves.count > 4)
  }

  /// The pages of a file, and the numbers of those that contain records.
  private struct Pages {
    static let size = 4096
    var pages: [Data]
    let leaves: [Int]

    init(_ url: URL, containing text: String) throws {
      let bytes = try Data(contentsOf: url)
      let pages = stride(from: 0, to: bytes.count, by: Self.size).map {
        bytes.subdata(in: $0..<$0 + Self.size)
      }
      self.pages = pages
      leaves = pages.indices.filter {
        pages[$0][10] == 2 && pages[$0].range(of: Data("\(text) ".utf8)) != nil
      }
    }

    /// Overwrites a page with one of another file, which gets its number.
    mutating func replace(_ page: Int, with other: Data) {
      let number = withUnsafeBytes(of: UInt64(page).littleEndian) { Data($0) }
      pages[page] = number + other.dropFirst(8)
    }

    /// Loses all branches, so that no leaf can be reached.
    mutating func loseBranches() {
      for index in pages.indices where pages[index][10] == 1 {
        pages[index] = Data(count: Self.size)
      }
    }

    /// Loses the root page of the last transaction, whose number is at offset 144.
    mutating func loseNewestRoot() {
      let numbers = pages[..<2].map { page in
        (0..<8).reduce(0 as UInt64) { $0 | UInt64(page[144 + $1]) << (8 * $1) }
      }
      pages[numbers[0] > numbers[1] ? 0 : 1] = Data(count: Self.size)
    }

    /// Returns the numbers of the notes on a page.
    func notes(_ page: Int, _ text: String) -> Set<String> {
      Set(
        (100..<1000).map { "\(text) \($0)" }.filter { pages[page].range(of: Data($0.utf8)) != nil })
    }
  }

  private static func pages(
    _ text: String, _ model: ManagedObjectModel, _ folder: TemporaryFolder
  ) throws -> Pages {
    let url = folder.url.appending(path: "\(text).arbor")
    let store = try PersistentStore(model: model, at: .file(url))
    let context = store.makeContext()
    for number in 100..<1000 { try context.insert("Note")["text"] = "\(text) \(number)" }
    try context.commit()
    store.close()
    return try Pages(url, containing: text)
  }

  /// Salvages pages and returns the texts of all notes, after a check, and the report.
  private func salvaged(_ damaged: Pages) throws -> (texts: Set<String>, report: SalvageReport) {
    let (url, rescued) = (
      folder.url.appending(path: "damaged"), folder.url.appending(path: "salvaged")
    )
    try Data(damaged.pages.joined()).write(to: url)
    let report = try PersistentStore.salvage(url, to: rescued)
    let store = try PersistentStore(model: model, at: .file(rescued))
    defer { store.close() }
    try store.check()
    let notes = try store.makeContext().fetch(FetchRequest<ManagedObject>(entity: "Note"))
    return (Set(notes.compactMap { $0["text"].string }), report)
  }

  private var all: Set<String> { Set((100..<1000).map { "own \($0)" }) }

  @Test("Records of another store are ignored", arguments: [false, true], [false, true])
  func ignoresOtherStores(losesBranches: Bool, losesCatalog: Bool) throws {
    var damaged = own
    if losesBranches { damaged.loseBranches() }
    if losesCatalog {
      let key = Data(StoreFormat.catalogKey.utf8)
      for index in damaged.pages.indices {
        // The catalog follows its key and has a checksum.
        guard let found = damaged.pages[index].range(of: key) else { continue }
        damaged.pages[index][found.upperBound] ^= 1
      }
    }
    // A page in place of the one with the same numbers, and one with numbers of another page.
    damaged.replace(own.leaves[1], with: foreign.pages[own.leaves[1]])
    damaged.replace(own.leaves[3], with: foreign.pages[own.leaves[2]])
    let lost = own.notes(own.leaves[1], "own").union(own.notes(own.leaves[3], "own"))
    #expect(lost.count > 40)
    let (texts, report) = try salvaged(damaged)
    #expect(texts == all.subtracting(lost))
    #expect(report.isCatalogMade == losesCatalog)
    let notes = try #require(report.entities.first)
    #expect(notes.doubtful == 0 && notes.kept == texts.count && !report.isComplete, "\(report)")
  }

  @Test("A file mostly from another store is salvaged as its catalog says")
  func followsTheCatalog() throws {
    var damaged = own
    for leaf in own.leaves.dropFirst() { damaged.replace(leaf, with: foreign.pages[leaf]) }
    let (texts, _) = try salvaged(damaged)
    #expect(texts == own.notes(own.leaves[0], "own") && texts.count > 20)
  }

  /// Copies the store, and changes all texts in the copy.
  private func changed(to text: String) throws -> Pages {
    let copy = folder.url.appending(path: text)
    try FileManager.default.copyItem(at: folder.url.appending(path: "own.arbor"), to: copy)
    let store = try PersistentStore(model: model, at: .file(copy))
    let context = store.makeContext()
    for note in try context.fetch(FetchRequest<ManagedObject>(entity: "Note")) {
      note["text"] = (note["text"].string ?? "").replacing("own", with: text)
    }
    try context.commit()
    store.close()
    return try Pages(copy, containing: text)
  }

  @Test("Records of commits that the store hasn't had are ignored")
  func ignoresLaterCommits() throws {
    // A copy has the same seed, and a commit of its own.
    let later = try changed(to: "new")
    let page = try #require(later.leaves.first { later.notes($0, "new").count > 20 })
    var damaged = own
    damaged.loseBranches()
    damaged.replace(own.leaves[3], with: later.pages[page])
    let (texts, _) = try salvaged(damaged)
    #expect(texts == all.subtracting(own.notes(own.leaves[3], "own")))
  }

  @Test("Objects with different records of the same commit are doubtful")
  func listsObjectsWithSeveralRecords() throws {
    // Two copies have one seed, and each a commit of its own.
    let (new, odd) = (try changed(to: "new"), try changed(to: "odd"))
    try #require(new.leaves == odd.leaves)
    let current = new.leaves.filter { new.notes($0, "new").count > 20 }
    var damaged = new
    damaged.loseBranches()
    damaged.replace(current[1], with: odd.pages[current[0]])
    let (texts, report) = try salvaged(damaged)
    // The objects of the lost page are found in their earlier state.
    #expect(texts.count == 900)
    let lost = new.notes(current[1], "new")
    #expect(texts.isSuperset(of: lost.map { $0.replacing("new", with: "own") }))
    let several = new.notes(current[0], "new")
    #expect(report.entities.first?.doubtful == several.count + lost.count, "\(report)")
  }

  @Test("A former branch of another tree is not taken for one of the names of databases")
  func recognizesBranchesOfNames() throws {
    var damaged = try changed(to: "new")
    let former = try #require(
      damaged.pages.indices.first { damaged.notes($0, "own").count > 20 })
    let names = damaged.pages.indices.filter { page in
      damaged.pages[page][10] == 2 && damaged.pages[page].range(of: Data("e/Note".utf8)) != nil
    }
    damaged.loseBranches()
    damaged.loseNewestRoot()
    // Branches whose first child now contains names, and whose second one is a former leaf.
    for page in names { damaged.pages.append(branch(damaged.pages.count, above: [page, former])) }
    let (texts, report) = try salvaged(damaged)
    #expect(report.state == .newest)
    #expect(texts == Set((100..<1000).map { "new \($0)" }))
  }

  /// Returns a branch page of LMDB with two children, whose keys are object numbers.
  private func branch(_ number: Int, above children: [Int]) -> Data {
    func bytes(_ value: some FixedWidthInteger) -> Data {
      withUnsafeBytes(of: value.littleEndian) { Data($0) }
    }
    let (first, second) = (Pages.size - 8, Pages.size - 8 - 16)
    var page = bytes(UInt64(number)) + bytes(UInt16(0)) + bytes(UInt16(1))
    page += bytes(UInt16(16 + 2 * 2)) + bytes(UInt16(second))
    page += bytes(UInt16(first)) + bytes(UInt16(second))
    page += Data(count: second - page.count)
    page += bytes(UInt32(children[1])) + bytes(UInt16(0)) + bytes(UInt16(8))
    page += bytes(0x7000_0000_0000_0001 as UInt64)
    page += bytes(UInt32(children[0])) + bytes(UInt16(0)) + bytes(UInt16(0))
    return page
  }
}
