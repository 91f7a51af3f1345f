import ArborData

/// The notes in a store, in lists that are kept up to date.
final class ArborNotes: NotesRival {
  private let store: PersistentStore
  private let context: ManagedObjectContext
  private var results: FetchedResults<Note>?

  init(path: String) throws {
    // Without a scrub in the background, which would be measured, too.
    store = try PersistentStore(
      for: [Folder.self, Tag.self, Note.self], at: .path(path),
      options: StoreOptions(durability: .relaxed, verification: .quick))
    context = store.makeContext()
  }

  private func object<T: ManagedObject>(_ number: Int) throws -> T {
    let id = ObjectID(
      storeID: store.id, entityName: T.entityDescription.name, number: UInt64(number))
    guard let object = try context.object(with: id) as? T else {
      throw BenchmarkError("no object \(id)")
    }
    return object
  }

  func load(_ data: NotesData) throws {
    let context = store.makeContext()
    let folders = data.folderNames.map { name in
      let folder = context.insert(Folder.self)
      folder.name = name
      return folder
    }
    let tags = data.tagNames.map { name in
      let tag = context.insert(Tag.self)
      tag.fill(name: name)
      return tag
    }
    for row in data.notes {
      let note = context.insert(Note.self)
      note.title = row.title
      note.folder = folders[row.folder - 1]
      note.tags = Set(row.tags.map { tags[$0 - 1] })
    }
    try context.commit()
  }

  func show(_ list: NotesList?) throws {
    results = nil
    guard let list else { return }
    let request = FetchRequest<Note>(
      sortKeys: list == .byTitle ? ["title"] : ["folder.name", "title"])
    results = try context.fetchedResults(
      request, sectionedBy: list == .inSections ? "folder.name" : nil)
  }

  func apply(_ change: NotesChange) throws {
    switch change {
    case .title(let number, let title):
      let note: Note = try object(number)
      note.title = title
    case .folderName(let number, let name):
      let folder: Folder = try object(number)
      folder.name = name
    }
    try context.commit()
  }

  func read() throws -> Answer {
    var answer = Answer()
    guard let results else { return answer }
    let notes = results.objects
    answer.add(Int64(notes.count))
    for (index, note) in notes.prefix(40).enumerated() {
      answer.add(Int64(index), text: note.title + (note.folder?.name ?? ""))
    }
    guard results.sectionKeyPath != nil else { return answer }
    for section in results.sections {
      answer.add(Int64(section.count), text: section.value.string ?? "")
    }
    return answer
  }

  func tagNotes(_ count: Int) throws -> Answer {
    let tag = context.insert(Tag.self)
    for number in 1...count { tag.notes.insert(try object(number)) }
    defer { context.rollback() }
    return Answer(count: tag.notes.count)
  }
}
