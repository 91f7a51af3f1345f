import ArborModel
import ArborObjects
import Foundation
import TestLength
import TestSupport
import Testing

/// `CLOSURE` over random graphs with cycles, compared with plain Swift.
@Suite("Closures of relationships") struct ClosureTests {
  /// Folders and their notes as plain values. A deleted folder is `nil`.
  private struct Plain {
    struct Folder {
      var name: String
      var parent: Int?
      var links: Set<Int> = []
    }

    var folders: [Folder?] = []
    var notes: [Int?] = []
    /// The number of times that a relationship is repeated at most, for the negative control.
    var repetitions = Int.max

    var present: [Int] { folders.indices.filter { folders[$0] != nil } }

    func children(of folder: Int) -> [Int] { present.filter { folders[$0]?.parent == folder } }

    func parents(of folder: Int) -> [Int] { folders[folder]?.parent.map { [$0] } ?? [] }

    func closure(_ start: [Int], _ next: (Int) -> [Int]) -> Set<Int> {
      var reached = Set(start)
      var newest = reached
      var count = 0
      while !newest.isEmpty, count < repetitions {
        newest = Set(newest.flatMap(next)).subtracting(reached)
        reached.formUnion(newest)
        count += 1
      }
      return reached
    }

    mutating func delete(_ folder: Int) {
      folders[folder] = nil
      for other in present {
        if folders[other]?.parent == folder { folders[other]?.parent = nil }
        folders[other]?.links.remove(folder)
      }
      for note in notes.indices where notes[note] == folder { notes[note] = nil }
    }
  }

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Folder") {
        AttributeDescription("serial", .integer64, .default(0))
        AttributeDescription("name", .string, .default(""))
        RelationshipDescription("parent", to: "Folder", inverse: "children")
        RelationshipDescription("children", to: "Folder", inverse: "parent", .toMany)
        RelationshipDescription("links", to: "Folder", inverse: "linked", .toMany)
        RelationshipDescription("linked", to: "Folder", inverse: "links", .toMany)
        RelationshipDescription("notes", to: "Note", inverse: "folder", .toMany)
      }
      EntityDescription("Shelf", parent: "Folder") {}
      EntityDescription("Note") {
        AttributeDescription("serial", .integer64, .default(0))
        RelationshipDescription("folder", to: "Folder", inverse: "notes")
      }
    }
  }

  /// A store with random contents, and the same as plain values.
  private final class Trial {
    let context: ManagedObjectContext
    var random: SeededRandom
    var plain = Plain()
    private(set) var folders: [ManagedObject] = []
    private var notes: [ManagedObject] = []

    init(_ store: PersistentStore, seed: UInt64) throws {
      context = store.makeContext()
      random = SeededRandom(seed: seed)
      for serial in 0..<Int.random(in: 1...12, using: &random) {
        let folder = try context.insert(Bool.random(using: &random) ? "Folder" : "Shelf")
        folder["serial"] = serial
        folder["name"] = "f\(serial % 5)"
        folders.append(folder)
        plain.folders.append(Plain.Folder(name: "f\(serial % 5)"))
      }
      for serial in 0..<30 {
        let note = try context.insert("Note")
        note["serial"] = serial
        notes.append(note)
        plain.notes.append(nil)
      }
      for _ in 0..<60 { try change() }
      try context.commit()
    }

    private func some(_ values: [Int]) -> Int? {
      Int.random(in: 0..<5, using: &random) == 0 ? nil : values.randomElement(using: &random)
    }

    func change() throws {
      let present = plain.present
      guard let folder = present.randomElement(using: &random) else { return }
      switch Int.random(in: 0..<20, using: &random) {
      case 0:
        context.delete(folders[folder])
        plain.delete(folder)
      case 1...5:
        let parent = some(present)
        try folders[folder].setObject(parent.map { folders[$0] }, forKey: "parent")
        plain.folders[folder]?.parent = parent
      case 6...10:
        guard let other = present.randomElement(using: &random) else { return }
        let members = try folders[folder].objects(forKey: "links")
        if plain.folders[folder]?.links.remove(other) != nil {
          try members.remove(folders[other])
        } else {
          try members.insert(folders[other])
          plain.folders[folder]?.links.insert(other)
        }
      default:
        let note = Int.random(in: notes.indices, using: &random)
        let target = some(present)
        try notes[note].setObject(target.map { folders[$0] }, forKey: "folder")
        plain.notes[note] = target
      }
    }

    func found(_ entity: String, _ predicate: FetchPredicate) throws -> [Int] {
      try context.objects(entity).filter(predicate).fetch()
        .map { Int($0["serial"] as Int64) }.sorted()
    }

    /// Compares questions with a random start. Returns those with different answers.
    func differences() throws -> [String] {
      guard let root = plain.present.randomElement(using: &random) else { return [] }
      let plain = plain
      func predicate(_ text: String) throws -> FetchPredicate {
        try FetchPredicate(format: text).substituting(["root": folders[root]])
      }
      let below = plain.closure([root], plain.children)
      let linked = plain.closure([root]) { Array(plain.folders[$0]?.links ?? []) }
      func notes(_ holds: (Int) -> Bool) -> [Int] {
        plain.notes.indices.filter { plain.notes[$0].map(holds) ?? false }
      }
      func above(_ folder: Int) -> Set<Int> { plain.closure([folder], plain.parents) }
      func links(_ folder: Int) -> Set<Int> {
        plain.closure([folder]) { Array(plain.folders[$0]?.links ?? []) }
      }
      let name = "f\(Int.random(in: 0..<5, using: &random))"
      func names(_ folders: Set<Int>) -> [String] { folders.compactMap { plain.folders[$0]?.name } }
      let questions: [(String, FetchPredicate, [Int])] = [
        ("Note", try predicate("folder IN CLOSURE($root.children)"), notes(below.contains)),
        (
          "Note", try predicate("NOT folder IN CLOSURE($root.links)"),
          plain.notes.indices.filter { !(plain.notes[$0].map(linked.contains) ?? false) }
        ),
        (
          "Note", try FetchPredicate(format: "folder IN CLOSURE(%@.links)", folders[root]),
          notes(linked.contains)
        ),
        ("Folder", try predicate("SELF IN CLOSURE($root.children)"), below.sorted()),
        (
          "Folder", try predicate("$root IN CLOSURE(parent)"),
          plain.present.filter { above($0).contains(root) }
        ),
        (
          "Folder", try FetchPredicate(format: "CLOSURE(parent).name CONTAINS %@", name),
          plain.present.filter { names(above($0)).contains(name) }
        ),
        (
          "Folder", try FetchPredicate(format: "ANY CLOSURE(SELF.links).name == %@", name),
          plain.present.filter { names(links($0)).contains(name) }
        ),
        (
          "Folder",
          try FetchPredicate(
            format: "SUBQUERY(CLOSURE(children), $f, $f.name == %@).@count > 1", name),
          plain.present.filter { folder in
            names(plain.closure([folder], plain.children)).filter { $0 == name }.count > 1
          }
        ),
        (
          "Folder", try FetchPredicate(format: "CLOSURE(children.links).@count > 3"),
          plain.present.filter { folder in
            plain.closure(plain.children(of: folder)) { Array(plain.folders[$0]?.links ?? []) }
              .count > 3
          }
        ),
        (
          "Note", try FetchPredicate(format: "closure(folder.parent).@count == 2"),
          notes { above($0).count == 2 }
        ),
      ]
      return try questions.compactMap { entity, predicate, expected in
        let found = try found(entity, predicate)
        return found == expected ? nil : "\(predicate) finds \(found) instead of \(expected)"
      }
    }
  }

  @Test(
    "Closures agree with plain values, with committed and pending changes",
    arguments: 1...UInt64(TestLength.of(40, long: 2_000)))
  func agreesWithPlainValues(seed: UInt64) throws {
    try ObjectStore.use(Self.model()) { store in
      let trial = try Trial(store, seed: seed)
      for _ in 0..<4 {
        let differences = try trial.differences()
        for _ in 0..<6 { try trial.change() }
        let pending = try trial.differences()
        #expect(differences + pending == [], "seed \(seed)")
        if Bool.random(using: &trial.random) { try trial.context.commit() }
      }
    }
  }

  @Test("The comparison finds closures that end too early")
  func findsClosuresThatEndEarly() throws {
    var differences: [String] = []
    for seed in 1...10 as ClosedRange<UInt64> {
      try ObjectStore.use(Self.model()) { store in
        let trial = try Trial(store, seed: seed)
        trial.plain.repetitions = 1
        differences += try trial.differences()
      }
    }
    #expect(!differences.isEmpty)
  }

  @Test("Live lists follow a closure", arguments: 1...UInt64(TestLength.of(20, long: 1_000)))
  func liveListsFollow(seed: UInt64) throws {
    try ObjectStore.use(Self.model()) { store in
      let trial = try Trial(store, seed: seed)
      guard let root = trial.plain.present.first else { return }
      let predicate = try FetchPredicate(format: "folder IN CLOSURE($root.children)")
        .substituting(["root": trial.folders[root]])
      let request = FetchRequest<ManagedObject>(
        entity: "Note", predicate: predicate, sortKeys: ["serial"])
      let list = try trial.context.fetchedResults(request)
      for _ in 0..<30 {
        try trial.change()
        let fresh = try trial.context.fetch(request)
        #expect(Array(list.objects) == fresh, "seed \(seed)")
      }
    }
  }

  @Test("An index finds what refers to a closure")
  func indexesServeClosures() throws {
    try ObjectStore.use(Self.model()) { store in
      let context = store.makeContext()
      let root = try context.insert("Folder")
      let child = try context.insert("Folder")
      try child.setObject(root, forKey: "parent")
      for serial in 0..<200 {
        let note = try context.insert("Note")
        note["serial"] = serial
        if serial % 50 == 0 { try note.setObject(child, forKey: "folder") }
      }
      try context.commit()
      let query = context.objects("Note").filter(
        try FetchPredicate(format: "folder IN CLOSURE(%@.children)", root))
      let count = try query.count()
      #expect(count == 4)
      let plan = try query.explain().description
      #expect(!plan.contains("scan"), "\(plan)")
    }
  }

  @Test("A live list follows objects of a parent entity that a closure reaches")
  func liveListsFollowOtherEntities() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Item") {
        RelationshipDescription("parent", to: "Folder", inverse: "children")
      }
      EntityDescription("File", parent: "Item") {}
      EntityDescription("Folder", parent: "Item") {
        RelationshipDescription("children", to: "Item", inverse: "parent", .toMany)
      }
    }
    try ObjectStore.use(model) { store in
      let context = store.makeContext()
      let folder = try context.insert("Folder")
      try context.commit()
      let request = FetchRequest<ManagedObject>(
        entity: "Folder", predicate: try FetchPredicate(format: "CLOSURE(children).@count > 1"))
      let list = try context.fetchedResults(request)
      #expect(list.objects.isEmpty)
      try context.insert("File").setObject(folder, forKey: "parent")
      #expect(Array(list.objects) == [folder])
    }
  }

  @Test("An allow list applies to every object that a closure reaches")
  func allowListsHold() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Item") {
        AttributeDescription("name", .string, .optional)
        RelationshipDescription("parent", to: "Item", inverse: "children")
        RelationshipDescription("children", to: "Item", inverse: "parent", .toMany)
      }
      EntityDescription("Photo", parent: "Item") {}
    }
    try ObjectStore.use(model) { store in
      let context = store.makeContext()
      var limits = PredicateLimits.untrusted
      limits.allowedProperties = ["Photo": ["parent"]]
      let predicate = try FetchPredicate(format: "CLOSURE(parent).@count > 1", limits: limits)
      #expect(throws: ArborError.self) { try context.objects("Photo").filter(predicate).count() }
      limits.allowedProperties = ["Photo": ["parent"], "Item": ["parent"]]
      let allowed = try FetchPredicate(format: "CLOSURE(parent).@count > 1", limits: limits)
      let count = try context.objects("Photo").filter(allowed).count()
      #expect(count == 0)
    }
  }

  @Test("Closures are compared as sets")
  func closuresAreSets() throws {
    try ObjectStore.use(Self.model()) { store in
      let context = store.makeContext()
      let (one, other) = (try context.insert("Folder"), try context.insert("Folder"))
      try one.objects(forKey: "links").insert(other)
      try other.objects(forKey: "links").insert(one)
      try context.commit()
      let predicate = try FetchPredicate(
        format: "CLOSURE(%@.links) == CLOSURE(%@.links)", one, other)
      let count = try context.objects("Folder").filter(predicate).count()
      #expect(count == 2)
    }
  }

  @Test("A closure needs a relationship that can be repeated")
  func whatCannotBeRepeatedIsRefused() throws {
    try ObjectStore.use(Self.model()) { store in
      let context = store.makeContext()
      func message(_ entity: String, _ format: String) throws -> String {
        do throws(ArborError) {
          _ = try context.objects(entity).filter(FetchPredicate(format: format)).count()
          return ""
        } catch { return error.message }
      }
      let text1 = try message("Folder", "CLOSURE(notes).@count > 1")
      #expect(
        text1.contains(
          "CLOSURE repeats a relationship, but Note, to which Folder.notes leads, doesn't have it. "
            + "Use a relationship between objects of one entity."))
      let text2 = try message("Folder", "CLOSURE(name).@count > 1")
      #expect(
        text2.contains(
          "CLOSURE repeats a relationship, but this is a string."))
      let text3 = try message("Folder", "CLOSURE(7).@count > 1")
      #expect(
        text3.contains(
          "CLOSURE repeats a relationship. Name one, such as CLOSURE(parent) or "
            + "CLOSURE($x.children)."))
      let two = try message("Folder", "CLOSURE(children, links).@count > 1")
      #expect(two.contains("one argument"))
    }
  }
}
