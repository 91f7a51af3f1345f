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
  ///
  /// - Throws: `EditRun.Failure` with all violations, `ArborError`.
  func edit(_ document: JSONValue) throws -> HTTPResponse {
    let edits = try edits(of: document)
    guard let digest = document["digest"]?.string else {
      let context = makePreviewContext()
      return .json(try run(edits, in: context).changes().json(isCommitted: false))
    }
    return try writer.withLock { context in
      try commit(in: context, digest) {
        context.undoHistory?.beginGroup(named: "edit")
        defer { context.undoHistory?.endGroup() }
        return try run(edits, in: context).changes()
      }
    }
  }

  /// Returns all violations of edits: `{"edits": […]}`.
  func validate(_ document: JSONValue) throws(ArborError) -> HTTPResponse {
    let run = try run(edits(of: document), in: makePreviewContext())
    return .json(["violations": .array(run.violations.map(\.json))])
  }

  private func edits(of document: JSONValue) throws(ArborError) -> [JSONValue] {
    guard let edits = document["edits"]?.array, !edits.isEmpty else {
      throw ArborError(.invalidDocument, "Expected a list of edits.")
    }
    return edits
  }

  /// Creates a context that is discarded with its changes.
  private func makePreviewContext() -> ManagedObjectContext {
    let context = store.makeContext()
    context.deadline = .now + workTime
    return context
  }

  private func run(
    _ edits: [JSONValue], in context: ManagedObjectContext
  ) throws(ArborError) -> EditRun {
    var run = try EditRun(edits, store, schema, in: context)
    try run.validate()
    return run
  }

  /// Previews or commits a reversal of the last commit: `{}` or `{"digest": …}`.
  func undo(_ document: JSONValue) throws -> HTTPResponse {
    try writer.withLock { context in
      guard context.undoHistory?.canUndo == true else {
        throw ArborError(.notAllowed, "There is nothing to undo.")
      }
      try context.mergeExternalCommits()
      context.undo()
      return try commit(in: context, document["digest"]?.string) {
        try ChangeList(context, schema, names: [:])
      }
    }
  }

  /// Commits changes that match the page's digest. Otherwise rolls them back and returns a preview.
  private func commit(
    in context: ManagedObjectContext, _ digest: String?,
    _ change: () throws -> ChangeList
  ) throws -> HTTPResponse {
    do {
      let list = try change()
      guard list.digest == digest else {
        // Not by undoing: edits without effect create no undo group, so the last group would be
        // that of a commit.
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
}
