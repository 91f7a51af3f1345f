internal import ArborJSON
internal import ArborLocks
internal import ArborModel
internal import ArborObjects
internal import Foundation

/// Changes from the page, as one commit, shown before it is made.
///
/// A list of edits is answered with what it would change, everything that delete rules and inverses
/// bring along included, and a digest of that. The same list with the digest is committed where it
/// still changes exactly that, and else answered anew.
final class ObjectEditor: Sendable {
  private let store: PersistentStore
  private let schema: BrowsedSchema
  /// How long edits may take that are only shown.
  private let workTime: Duration
  /// The context of all commits, whose history undoes them. Under a lock, since each request has a
  /// thread of its own.
  private let writer: Lock<ManagedObjectContext>
  private static let levels = 50

  init(_ store: PersistentStore, _ schema: BrowsedSchema, workTime: Duration) {
    self.store = store
    self.schema = schema
    self.workTime = workTime
    let context = store.makeContext()
    context.author = "browser"
    context.undoHistory = UndoHistory(levelLimit: Self.levels)
    writer = Lock(context)
  }

  /// Shows or commits edits: `{"edits": […], "digest": …}`, without a digest only shown.
  func edit(_ document: JSONValue) throws(ArborError) -> HTTPResponse {
    guard let edits = document["edits"]?.array, !edits.isEmpty else {
      throw ArborError(.invalidDocument, "Expected a list of edits.")
    }
    guard let digest = document["digest"]?.string else {
      // In a context of its own, which is dropped with all it did.
      let context = store.makeContext()
      context.deadline = .now + workTime
      let list = try apply(edits, in: context)
      try context.validate()
      return .json(list.json(isCommitted: false))
    }
    return try writer.withLock { context throws(ArborError) in
      try commit(in: context, digest) { () throws(ArborError) in
        context.undoHistory?.beginGroup(named: "edit")
        defer { context.undoHistory?.endGroup() }
        return try apply(edits, in: context)
      }
    }
  }

  /// Shows or commits the undoing of the last commit: `{}` or `{"digest": …}`.
  func undo(_ document: JSONValue) throws(ArborError) -> HTTPResponse {
    try writer.withLock { context throws(ArborError) in
      guard context.undoHistory?.canUndo == true else {
        throw ArborError(.notAllowed, "There is nothing to undo.")
      }
      try context.mergeExternalCommits()
      context.undo()
      return try commit(in: context, document["digest"]?.string) { () throws(ArborError) in
        try ChangeList(context, schema, names: [:])
      }
    }
  }

  /// Commits changes of which the page has the digest; shows those that are others, or that it has
  /// none of, and takes them back.
  private func commit(
    in context: ManagedObjectContext, _ digest: String?,
    _ change: () throws(ArborError) -> ChangeList
  ) throws(ArborError) -> HTTPResponse {
    do throws(ArborError) {
      let list = try change()
      guard list.digest == digest else {
        // Not by undoing: edits without effect leave no group, and the last one is a commit's.
        context.rollback()
        return .json(list.json(isCommitted: false), status: digest == nil ? .ok : .conflict)
      }
      try context.commit()
      return .json(list.json(isCommitted: true))
    } catch {
      context.rollback()
      throw error
    }
  }

  // MARK: Edits

  private func apply(
    _ edits: [JSONValue], in context: ManagedObjectContext
  ) throws(ArborError) -> ChangeList {
    // All at first, so that any of them can be linked to any other.
    var inserted: [String: ManagedObject] = [:]
    var objects: [ManagedObject] = []
    for edit in edits {
      switch edit["op"]?.string {
      case "insert":
        let object = try context.insert(schema.entity(edit["entity"]?.string ?? "").name)
        inserted[edit["ref"]?.string ?? "new \(inserted.count + 1)"] = object
        objects.append(object)
      case "update", "delete":
        let id = try BrowserInterface.id(edit["id"]?.string ?? "", in: store)
        objects.append(try context.existingObject(with: id))
      default: throw ArborError(.invalidDocument, "An edit must be insert, update or delete.")
      }
    }
    var deleted: [ManagedObject] = []
    for (edit, object) in zip(edits, objects) {
      if edit["op"]?.string == "delete" {
        deleted.append(object)
      } else {
        for (property, value) in edit["values"]?.object ?? [:] {
          try set(property, to: value, of: object, inserted)
        }
      }
    }
    for object in deleted { context.delete(object) }
    let names = inserted.reduce(into: [:]) { $0[$1.value.objectID] = $1.key }
    return try ChangeList(context, schema, names: names, edited: Set(objects.map(\.objectID)))
  }

  private func set(
    _ property: String, to value: JSONValue, of object: ManagedObject,
    _ inserted: [String: ManagedObject]
  ) throws(ArborError) {
    let entity = try schema.entity(object.entity.name)
    if let attribute = entity.attributes.first(where: { $0.name == property }) {
      try object.setValue(
        TypedText(entity: entity.name, attribute: attribute).value(of: value), forKey: property)
    } else if entity.relationships.contains(where: { $0.name == property && $0.isToMany }) {
      var members: [ManagedObject] = []
      for name in value.array ?? [] {
        if let member = try target(name, inserted, object) { members.append(member) }
      }
      try object.objects(forKey: property).replaceAll(with: members)
    } else {
      try object.setObject(target(value, inserted, object), forKey: property)
    }
  }

  /// The object that a value names: one of the store, or one that is inserted along.
  private func target(
    _ value: JSONValue, _ inserted: [String: ManagedObject], _ object: ManagedObject
  ) throws(ArborError) -> ManagedObject? {
    guard let name = value.string, !name.isEmpty else { return nil }
    if let object = inserted[name] { return object }
    return try object.context?.existingObject(with: BrowserInterface.id(name, in: store))
  }
}
