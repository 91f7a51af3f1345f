import ArborData
import Foundation

/// Live lists of N notes in folders, as a notes application shows them: by their own key and by that
/// of their folder, with and without sections.
extension Benchmark {
  private static let keys: [(name: String, keys: [SortKey], section: String?)] = [
    ("own", ["title"], nil), ("own_sections", ["title"], "kind"),
    ("related", ["folder.name", "title"], nil),
    ("related_sections", ["folder.name", "title"], "folder.name"),
    ("localized", [SortKey("title").localized(Locale(identifier: "de_DE"))], nil),
  ]

  /// Measures single changes, each followed by what a view reads: forty rows, the number of objects
  /// and those of the sections. `live_without` is the change without a list. Then renames the
  /// folder of two thirds of the notes, next to fetching and sorting these. The memory of a list is
  /// printed in bytes a row instead of a time.
  func followLists(rounds: Int) throws {
    let store = try noteStore()
    for _ in 0..<max(1, rounds) {
      try change("without", store.makeContext(), nil, repetitions: 1000)
      for list in Self.keys {
        let context = store.makeContext()
        var request = FetchRequest<ManagedObject>(entity: "Note", sortKeys: list.keys)
        let notes = try context.fetch(request)
        let memory = Meter.anonymousMemory
        let results = try context.fetchedResults(request, sectionedBy: list.section)
        let bytes = (Meter.anonymousMemory - memory) * 1024 / count
        Meter.printLine(["live_\(list.name)_bytes", "\(bytes)", "\(bytes)", "\(notes.count)"])
        try change(list.name, context, results, repetitions: 1000)
        guard list.keys[0].keyPath == "folder.name" else { continue }
        try rename(list.name, context, results)
        request.predicate = "folder.name BEGINSWITH 'Beta'"
        let other = store.makeContext()
        try Meter.measure("live_\(list.name)_sort") { (try other.fetch(request).count, 0) }
      }
    }
  }

  private func noteStore() throws -> PersistentStore {
    let model = try ManagedObjectModel {
      EntityDescription("Folder") {
        AttributeDescription("name", .string, .default(""))
        RelationshipDescription("notes", to: "Note", inverse: "folder", .toMany)
      }
      EntityDescription("Note") {
        AttributeDescription("title", .string, .default(""))
        AttributeDescription("text", .string, .default(""))
        AttributeDescription("kind", .integer64, .default(0))
        RelationshipDescription("folder", to: "Folder", inverse: "notes")
      }
    }
    let store = try PersistentStore(model: model, at: .inMemory)
    let context = store.makeContext()
    let folders = try ["Alpha", "Beta"].map { name in
      let folder = try context.insert("Folder")
      folder["name"] = name
      return folder
    }
    for number in 0..<count {
      let note = try context.insert("Note")
      note["title"] = "Note \(number)"
      note["kind"] = number % 20
      note["folder"] = folders[number % 3 == 0 ? 0 : 1]
    }
    try context.commit()
    return store
  }

  /// Reads what a view shows.
  private func show(_ results: FetchedResults<ManagedObject>?) -> Int {
    guard let results else { return 0 }
    let objects = results.objects
    let sections = results.sections.reduce(0) { $0 + $1.count }
    return objects.dropFirst(objects.count / 2).prefix(40).reduce(objects.count + sections) {
      $0 + ($1["kind"] as Int)
    }
  }

  private func change(
    _ name: String, _ context: ManagedObjectContext, _ results: FetchedResults<ManagedObject>?,
    repetitions: Int
  ) throws {
    let notes = try context.fetch(FetchRequest<ManagedObject>(entity: "Note"))
    let folders = try context.fetch(FetchRequest<ManagedObject>(entity: "Folder"))
    _ = show(results)
    for (kind, key) in [("key", "title"), ("text", "text")] {
      Meter.measure("live_\(name)_\(kind)", repetitions: repetitions) {
        var sum = 0
        for number in 0..<repetitions {
          notes[number * 7919 % count][key] = "Zeta \(number)"
          sum += show(results)
        }
        return (sum, 0)
      }
    }
    Meter.measure("live_\(name)_move", repetitions: repetitions) {
      var sum = 0
      for number in 0..<repetitions {
        notes[number * 7919 % count]["folder"] = folders[number % 2]
        sum += show(results)
      }
      return (sum, 0)
    }
    try Meter.measure("live_\(name)_insert", repetitions: repetitions) {
      var sum = 0
      for number in 0..<repetitions {
        try context.insert("Note")["title"] = "Note \(number)"
        sum += show(results)
      }
      return (sum, 0)
    }
    context.rollback()
    _ = show(results)
  }

  private func rename(
    _ name: String, _ context: ManagedObjectContext, _ results: FetchedResults<ManagedObject>
  ) throws {
    let request = FetchRequest<ManagedObject>(entity: "Folder", predicate: "name == 'Beta'")
    guard let folder = try context.fetchOne(request) else { throw BenchmarkError("no folder") }
    Meter.measure("live_\(name)_rename", repetitions: 4) {
      var sum = 0
      for number in 0..<4 {
        folder["name"] = number % 2 == 0 ? "Aleph" : "Beta"
        sum += show(results)
      }
      return (sum, 0)
    }
    context.rollback()
    _ = show(results)
  }
}
