import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// Throwing accessors, which must report what they can't read.
@Suite struct ManagedObjectReadingTests {
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("List") {
        AttributeDescription("number", .integer64, .default(1))
        RelationshipDescription("items", to: "Item", inverse: "list", .toMany, .ordered)
        RelationshipDescription("tags", to: "Tag", inverse: "lists", .toMany)
        RelationshipDescription("first", to: "Item")
      }
      EntityDescription("Item") {
        AttributeDescription("n", .integer64, .default(0))
        RelationshipDescription("list", to: "List", inverse: "items")
      }
      EntityDescription("Tag") {
        AttributeDescription("name", .string, .default(""))
        RelationshipDescription("lists", to: "List", inverse: "tags", .toMany)
      }
    }
  }

  /// The accessors by name. Each closure returns whether the result for a list is correct.
  private static let accessors:
    [(name: String, isRight: @Sendable (ManagedObject) throws -> Bool)] = {
      let numbers = Array(0..<20)
      @Sendable func values(_ value: PropertyValue) -> [PropertyValue]? {
        if case .list(let list) = value { list } else { nil }
      }
      return [
        ("objects", { try $0.objects(forKey: "items").fetch().map { $0["n"] as Int } == numbers }),
        ("unordered objects", { try $0.objects(forKey: "tags").fetch().count == 20 }),
        ("count", { try $0.objects(forKey: "items").count() == 20 }),
        ("unordered count", { try $0.objects(forKey: "tags").count() == 20 }),
        ("value", { values(try $0.value(forKey: "items"))?.count == 20 }),
        (
          "path",
          { try $0.value(forKeyPath: "items.n") == .list(numbers.map { .integer(Int64($0)) }) }
        ),
        ("count of a path", { try $0.value(forKeyPath: "tags.@count") == .integer(20) }),
        ("object", { try $0.object(forKey: "first")?.value(forKey: "n") == .integer(7) }),
        (
          "contains",
          { list in
            let item = try #require(try list.object(forKey: "first"))
            return try list.objects(forKey: "items").contains(item)
          }
        ),
        (
          "view",
          { list in
            let context = try #require(list.context)
            return try context.withSnapshot { (list["items"] as [ManagedObject]).count == 20 }
          }
        ),
        (
          "grouping",
          { list in
            let lists = try #require(list.context).objects("List")
            return try lists.grouped(by: \.itemCount) == [20: [list]]
          }
        ),
        (
          "match",
          { try ("items.@count == 20 AND ANY tags.name == '3'" as FetchPredicate).matches($0) }
        ),
        (
          "body",
          { list in
            try #require(list.context).store.performBackgroundAndWait { context in
              (try context.fetchOne("List")?["tags"] as [ManagedObject]?)?.count == 20
            }
          }
        ),
        (
          "change",
          { list in
            let items = try list.objects(forKey: "items").fetch()
            try list.objects(forKey: "items").replaceAll(with: items.reversed())
            try list.context?.commit()
            return try list.objects(forKey: "items").fetch() == items.reversed()
          }
        ),
      ]
    }()

  /// Zeroes each page of a file in turn.
  @Test("Every accessor returns the right value or reports a damaged page")
  func damagedPagesAreErrors() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "a.arbor")
    var options = StoreOptions()
    options.verification = .quick
    let model = try Self.model()
    do {
      let store = try PersistentStore(model: model, at: .file(url), options: options)
      defer { store.close() }
      let context = store.makeContext()
      let list = try context.insert("List")
      for number in 0..<20 {
        let (item, tag) = (try context.insert("Item"), try context.insert("Tag"))
        item["n"] = number
        tag["name"] = "\(number)"
        try list.objects(forKey: "items").insert(item)
        try list.objects(forKey: "tags").insert(tag)
        if number == 7 { list["first"] = item }
      }
      try context.commit()
    }
    let whole = try Data(contentsOf: url)
    let size = 4096
    var thrown: [String: Int] = [:]
    for page in 2..<whole.count / size {
      for accessor in Self.accessors {
        var damaged = whole
        damaged.replaceSubrange(page * size..<(page + 1) * size, with: Data(count: size))
        try damaged.write(to: url)
        try? FileManager.default.removeItem(atPath: url.path + "-lock")
        guard let store = try? PersistentStore(model: model, at: .file(url), options: options)
        else { continue }
        defer { store.close() }
        let context = store.makeContext()
        guard let list = try? context.fetchOne("List") else { continue }
        do {
          #expect(try accessor.isRight(list), "\(accessor.name), page \(page)")
        } catch {
          #expect((error as? ArborError)?.code == .corrupted, "\(accessor.name): \(error)")
          thrown[accessor.name, default: 0] += 1
        }
      }
    }
    #expect(thrown.count == Self.accessors.count, "\(thrown)")
  }

  @Test("A failed read doesn't prevent later commits")
  func aReadThatThrewLeavesNothingBehind() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let ghost = try context.object(with: store.objectID("Employee", number: 99))
      for _ in 0..<2 {
        let error = try failure { _ = try ghost.value(forKey: "age") }
        #expect(error.code == .objectNotFound && error.objectID == ghost.objectID)
        #expect(try failure { _ = try ghost.object(forKey: "company") }.code == .objectNotFound)
        #expect(
          try failure { _ = try ("age == 18" as FetchPredicate).matches(ghost) }.code
            == .objectNotFound)
      }
      context.insert(Employee.self)
      try context.commit()
      // A read that couldn't throw leaves nothing behind, either.
      _ = ghost["age"] as PropertyValue
      #expect(try failure { _ = try ghost.value(forKey: "age") }.code == .objectNotFound)
      #expect(try context.count("Employee") == 1)
      // A change may depend on a value that couldn't be read, so the commit fails.
      context.rollback()
      #expect(try failure { try ghost.setValue(41, forKey: "age") }.code == .objectNotFound)
      #expect(try failure { try context.commit() }.code == .objectNotFound)
      context.rollback()
      try context.commit()
    }
  }

  // MARK: Without a context

  @Test("Reading what an object of a released context hasn't loaded throws")
  func releasedContexts() throws {
    try ObjectStore.useOffice { store in
      try store.performBackgroundAndWait { context in
        let ada = context.insert(Employee.self)
        (ada.name, ada.company) = ("Ada", context.insert(Company.self))
        ada.skills = [context.insert(Skill.self)]
        ada.tasks = [context.insert(ArborObjectsTests.Task.self)]
      }
      let ada = try #require(try store.makeContext().fetchOne(Employee.self))
      let fault = try store.makeContext().object(with: ada.objectID)
      #expect(ada.context == nil && fault.isFault)
      // Values that were already loaded can be read.
      #expect(try ada.value(forKey: "name") == .string("Ada"))
      #expect(try ada.value(forKey: "company") == ada.companyID.map { .objectID($0) })
      #expect(try ada.object(forKey: "badge") == nil)
      let reads: [(String, () throws -> Void)] = [
        ("skills", { _ = try ada.objects(forKey: "skills").fetch() }),
        ("tasks", { _ = try ada.objects(forKey: "tasks").fetch() }),
        ("tasks", { _ = try ada.value(forKey: "tasks") }),
        ("skills", { _ = try ada.objects(forKey: "skills").count() }),
        ("skills", { _ = try ada.objects(forKey: "skills").contains(ada) }),
        ("company", { _ = try ada.object(forKey: "company") }),
        ("company", { _ = try ada.value(forKeyPath: "company.name") }),
        ("skills", { _ = try ada.value(forKeyPath: "skills.name") }),
        ("name", { _ = try fault.value(forKey: "name") }),
        ("company", { _ = try fault.value(forKey: "company") }),
        ("company", { _ = try fault.object(forKey: "company") }),
        ("tasks", { _ = try fault.objects(forKey: "tasks").fetch() }),
      ]
      for (property, read) in reads {
        let error = try failure(of: read)
        #expect(error.code == .notAllowed && error.keyPath == property, "\(property): \(error)")
        #expect(
          error.message
            == "Employee.\(property) of \(ada.objectID) can't be read: its context was deallocated "
            + "or reset. Keep the context alive while its objects are in use, or fetch the object "
            + "again by its objectID.")
      }
    }
  }

  @Test("An accessor that can't throw logs its failure once per entity")
  func releasedContextsAreLogged() throws {
    #expect(ProgramLog.isSetUp)
    try ObjectStore.useOffice { store in
      try store.performBackgroundAndWait { context in
        let ada = context.insert(Employee.self)
        ada.company = context.insert(Company.self)
        ada.skills = [context.insert(Skill.self)]
      }
      let reads: [(ManagedObject) -> Bool] = [
        { ($0 as? Employee)?.skills == [] }, { ($0 as? Employee)?.company == nil },
        { ($0["skills"] as [ManagedObject]).isEmpty }, { ($0["company"] as ManagedObject?) == nil },
        { ($0["skills"] as PropertyValue) == .list([]) },
        { ($0._toManyView(3) as ToMany<Skill>).isEmpty },
        { ($0._toManyView(3) as ToMany<Skill>).ids.isEmpty },
      ]
      for read in reads {
        // A new object per reader, of which the entity is logged only once.
        let company = try #require(try store.makeContext().fetchOne(Company.self))
        let ada = try #require(try store.makeContext().fetchOne(Employee.self))
        for _ in 0..<3 { #expect(read(ada)) }
        #expect(company.employees.isEmpty)
      }
      let id = try store.objectID("Employee", number: 1)
      let entries = ProgramLog.entries("object", "\(id)")
      #expect(entries.map(\.label) == ["ArborData.objects"])
      #expect(entries.map(\.level) == ["warning"])
      #expect(entries.first?.message.contains("Employee.skills of \(id) can't be read") == true)
      #expect(
        ProgramLog.entries("object", "\(try store.objectID("Company", number: 1))").count == 1)
    }
  }

  @Test("Failed reads of large binaries and faults are logged, too")
  func whatIsNotHeldIsLogged() throws {
    #expect(ProgramLog.isSetUp)
    let model = try ManagedObjectModel {
      EntityDescription("Photo") {
        AttributeDescription("image", .binary, .optional, .externalStorage)
      }
      EntityDescription("Note") { AttributeDescription("text", .string, .default("")) }
    }
    try ObjectStore.use(model) { store in
      let (photoID, noteID) = try store.performBackgroundAndWait { context in
        let (photo, note) = (try context.insert("Photo"), try context.insert("Note"))
        photo["image"] = Data(count: 100_000)
        note["text"] = "text"
        return (photo.objectID, note.objectID)
      }
      let photo = try store.makeContext().existingObject(with: photoID)
      #expect(try failure { _ = try photo.value(forKey: "image") }.keyPath == "image")
      #expect((photo["image"] as PropertyValue) != .binary(Data(count: 100_000)))
      let note = try store.makeContext().object(with: noteID)
      #expect(note["text"] == "")
      #expect(try failure { _ = try note.value(forKey: "text") }.keyPath == "text")
      let message = try #require(ProgramLog.entries("object", "\(photoID)").first).message
      #expect(message.contains("Photo.image of \(photoID) can't be read"))
      #expect(ProgramLog.entries("object", "\(noteID)").count == 1)
    }
  }

  // MARK: Deleted objects

  /// Before the commit of a deletion, all accessors agree on whether a relationship still leads to
  /// the deleted object, as the delete rule determines.
  @Test("All accessors agree on a pending deletion", arguments: ["deny", "nullify"])
  func deletedTargets(rule: String) throws {
    let deleteRule = try #require(RelationshipDescription.DeleteRule(rawValue: rule))
    try ObjectStore.use(OwnersModel.make(deleteRule)) { store in
      let context = store.makeContext()
      let (owner, thing) = (try context.insert("Owner"), try context.insert("Thing"))
      thing["owner"] = owner
      thing["owners"] = [owner]
      try context.commit()
      context.delete(owner)
      let isLinked = rule == "deny"
      let name: PropertyValue = isLinked ? "O" : .null
      let id: PropertyValue = isLinked ? .objectID(owner.objectID) : .null
      #expect(try thing.object(forKey: "owner") == (isLinked ? owner : nil))
      #expect(try thing.value(forKey: "owner") == id)
      #expect(try thing.value(forKeyPath: "owner.name") == name)
      #expect(try thing.objects(forKey: "owners").fetch() == (isLinked ? [owner] : []))
      let rows = try context.objects("Thing").rows("owner", "owner.name", "owners.name")
      #expect(
        rows == [["owner": id, "owner.name": name, "owners.name": .list(isLinked ? ["O"] : [])]])
      for path in ["owner", "owner.name"] {
        let results = try context.fetchedResults(
          FetchRequest<ManagedObject>(entity: "Thing"), sectionedBy: path)
        #expect(results.sections.map(\.value) == [path == "owner" ? id : name])
        let unlinked = try FetchPredicate(format: "\(path) == nil")
        #expect(try context.count("Thing", matching: unlinked) == (isLinked ? 0 : 1))
        #expect(try unlinked.matches(thing) == !isLinked)
      }
      let linked: [FetchPredicate] = [
        "owner.name == 'O'", "ANY owners.name == 'O'", "owners.@count == 1",
        "owner == \(owner.objectID)",
      ]
      for predicate in linked {
        #expect(try context.count("Thing", matching: predicate) == (isLinked ? 1 : 0))
        #expect(try predicate.matches(thing) == isLinked)
      }
      guard isLinked else {
        try context.commit()
        return
      }
      #expect(try failure { try context.commit() }.code == .validation)
      context.rollback()
    }
  }
}

extension ManagedObject {
  fileprivate var itemCount: Int { (self["items"] as [ManagedObject]).count }
}
