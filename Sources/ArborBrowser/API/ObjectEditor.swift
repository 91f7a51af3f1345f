internal import ArborJSON
internal import ArborLocks
internal import ArborModel
internal import ArborObjects
internal import Foundation

/// Edits made in the page, previewed and then committed as one commit.
///
/// The response to a list of edits shows everything that it would change, including the effects of
/// delete rules and inverses, with a digest of the changes. If the same list is sent with the
/// digest, it is committed, provided that it still makes exactly these changes. Otherwise the
/// response is a new preview.
final class ObjectEditor: Sendable {
  private let store: PersistentStore
  private let schema: BrowsedSchema
  /// The time limit of a preview.
  private let workTime: Duration
  /// The context of all commits, whose undo history reverts them. Protected by a lock, since each
  /// request has its own thread.
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

  /// Previews or commits edits: `{"edits": […], "digest": …}`. Without a digest, they are only
  /// previewed.
  func edit(_ document: JSONValue) throws(ArborError) -> HTTPResponse {
    guard let edits = document["edits"]?.array, !edits.isEmpty else {
      throw ArborError(.invalidDocument, "Expected a list of edits.")
    }
    guard let digest = document["digest"]?.string else {
      // A separate context, which is discarded with its changes.
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

  /// Previews or commits the undoing of the last commit: `{}` or `{"digest": …}`.
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

  /// Commits changes that match the page's digest. Otherwise rolls them back and returns a preview.
  private func commit(
    in context: ManagedObjectContext, _ digest: String?,
    _ change: () throws(ArborError) -> ChangeList
  ) throws(ArborError) -> HTTPResponse {
    do throws(ArborError) {
      let list = try change()
      guard list.digest == digest else {
        // Not by undoing: edits without effect create no undo group, so that the last group is that
        // of a commit.
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
    // All objects are created first, so that any two of them can be linked.
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

  /// Returns the object with a name: one of the store, or one inserted by the same edits.
  private func target(
    _ value: JSONValue, _ inserted: [String: ManagedObject], _ object: ManagedObject
  ) throws(ArborError) -> ManagedObject? {
    guard let name = value.string, !name.isEmpty else { return nil }
    if let object = inserted[name] { return object }
    return try object.context?.existingObject(with: BrowserInterface.id(name, in: store))
  }
}
