internal import ArborFoundation
public import ArborModel
internal import ArborStore

/// The only place where errors of the store are converted to the public error.
extension ArborError {
  private static func damaged(_ what: String) -> ArborError {
    ArborError(.corrupted, "The store is damaged: \(what.asClause). \(damageRemedy)")
  }

  static let damageRemedy =
    "Restore a backup, or recover intact objects with PersistentStore.salvage(_:to:model:) or "
    + "lmdb-inspect salvage STORE TARGET; lmdb-inspect check lists the damage."

  /// Converts an error of an open store.
  init(_ error: StoreError, in engine: StoreEngine) {
    switch error {
    case .corrupted(let entity, let object, let what):
      self = Self.damaged(what).with(entity: entity, objectID: object.map(engine.objectID))
    case .conflict(let conflicts): self.init(conflicts: conflicts, in: engine)
    case .missingTargets(let missing): self.init(missing: missing, in: engine)
    case .stillLinked(let linked): self.init(linked: linked, in: engine)
    case .miscounted(let miscounted): self.init(miscounted: miscounted, in: engine)
    case .notUnique(let violations):
      self.init(
        notUnique: violations.map { DuplicateValues($0, engine.schema, engine.id) },
        violations.count == 1
          ? "Two objects have the same unique value. Change one of the objects."
          : "\(violations.count) unique values are each used by two objects. Change one object of "
            + "each pair.")
    case .invalidChange(let number, let what):
      self = ArborError(.invalidArgument, "The commit is inconsistent: \(what.asClause).").with(
        objectID: number.map(engine.objectID))
    case .unfitValue(let number, let keyPath, let what, let value):
      self = ArborError(.validation, what).with(
        entity: engine.schema.entity(of: number)?.name, objectID: engine.objectID(number),
        keyPath: keyPath, offending: value)
    default: self.init(opening: error)
    }
  }

  /// Converts an error that doesn't concern an object.
  init(opening error: StoreError) {
    switch error {
    case .query(let error), .log(let error), .journal(let error): self = error
    case .interrupted(let interruption): self.init(interruption)
    case .modelMismatch, .notReverted, .duplicateValues, .duplicatesBuilt, .modelChanged,
      .migrationUnderWay:
      self.init(migration: error)
    case .formatTooNew(let major, let minor):
      self.init(
        .formatTooNew,
        "The store has format \(major).\(minor), which requires a later version of the library.")
    case .closed: self.init(.closed, "The store has been closed. Open it again.")
    case .diskFull(let path):
      self.init(
        .diskFull,
        "There is not enough disk space\(path.map { " for \($0)" } ?? ""), or a file size limit "
          + "was reached. Free space or raise the limit.")
    case .foreignObject(let what): self.init(.invalidArgument, what)
    case .exhausted(let what): self.init(.limitExceeded, what)
    case .invalidModel(let error): self = error
    case .engine(let error):
      self.init(.inputOutput, "\(error)")
      underlying = error
    case .corrupted(let entity, _, let what): self = Self.damaged(what).with(entity: entity)
    case .outcomeUnknown(let batch): self.init(unknown: batch)
    case .inLogOnly(let batch, let reason): self.init(inLogOnly: batch, ArborError(opening: reason))
    case .metadataExists(let key):
      self.init(
        .conflict,
        "Another commit has already written the metadata entry \"\(key)\". Read the entry again.")
    case .unfitValue(_, let keyPath, let what, let value):
      self = ArborError(.validation, what).with(keyPath: keyPath, offending: value)
    case .conflict, .missingTargets, .stillLinked, .miscounted, .notUnique, .invalidChange,
      .behindLog, .nothingToClaim:
      self.init(.conflict, "The commit conflicts with another one. Try again.")
    case .notAStore, .invalidPath, .unsupportedEngine, .readOnly, .follower, .inUse, .busy,
      .fileReplaced, .inputOutput, .missing:
      self.init(file: error)
    }
  }

  /// Converts an error about a store's model or its migration.
  private init(migration error: StoreError) {
    switch error {
    case .modelMismatch(let refusal): self.init(.modelMismatch, refusal)
    case .notReverted(let refusal): self.init(.notAllowed, refusal)
    case .duplicateValues(let violations):
      self.init(
        notUnique: violations,
        "The model requires unique values, but some objects in the store have equal values. Open "
          + "the store with its former model, and change the values.")
    case .duplicatesBuilt(let violations):
      self.init(
        .notUnique,
        "Objects written while an index was being built share values that must be unique. Open the "
          + "store with options.indexBuilds set to .inBackground, change the values and reopen the "
          + "store, or restore the former model with PersistentStore.revertMigration(_:).")
      self.violations = Self.sharing(violations)
    case .modelChanged:
      self.init(
        .modelChanged,
        "Another process has changed the store's model since this process opened it. Reopen the "
          + "store.")
    case .migrationUnderWay(let marker):
      self.init(
        .migrationUnderWay,
        "The store has been migrating to another model since \(marker.began.formatted(.iso8601)) "
          + "and cannot be written until the migration is complete. Open the store with that model "
          + "to continue the migration, open it read-only, or abandon the migration with "
          + "PersistentStore.revertMigration(_:).")
    default: self.init(.modelMismatch, "\(error)")
    }
  }

  private init(busy process: BusyProcess, _ path: String?) {
    let name = process.name.map { " (\($0))" } ?? ""
    let subject =
      process.isOwn ? "Another commit of this process" : "Process \(process.id)\(name)"
    let since = process.since.map { " since \($0.formatted(.iso8601))" } ?? ""
    let remedy =
      process.isOwn
      ? "Try again later." : "Try again later, or resume or end that process if it is stopped."
    self.init(
      .busy,
      "\(subject) has been writing to \(path ?? "the store")\(since), longer than "
        + "StoreOptions.busyTimeout. Nothing was written. \(remedy)")
  }

  private init(unknown batch: UUID) {
    self.init(
      .outcomeUnknown,
      "It is unknown whether the log contains the commit. Once the log is reachable again, call "
        + "PersistentStore.outcome(of:) with the batch \(batch.uuidString); until then, don't "
        + "commit the same changes from another context.")
    self.batch = batch
  }

  private init(inLogOnly batch: UUID, _ reason: ArborError) {
    self.init(
      reason.code,
      "The commit is in the log and valid, but it could not be applied to this machine's file: "
        + "\(reason.message) The store will apply the commit as soon as possible; don't commit the "
        + "same changes again.")
    underlying = reason
    self.batch = batch
  }

  private init(_ code: Code, _ refusal: MigrationRefusal) {
    self.init(code, refusal.message)
    violations = refusal.obstacles.map { obstacle in
      ArborError(code, obstacle.message).with(
        entity: obstacle.entity, objectID: obstacle.objectIDs.first, keyPath: obstacle.property)
    }
  }

  /// Converts an error about the store's file rather than its contents.
  private init(file error: StoreError) {
    switch error {
    case .notAStore(let path, let what):
      self.init(.notAStore, "\(path) is not a store: \(what.asClause). Choose another file.")
    case .invalidPath(let path):
      self.init(
        .invalidArgument,
        "\(path.debugDescription) is not a valid path: it is empty or contains a zero byte. Use "
          + "the path of a file.")
    case .unsupportedEngine(let path, let error):
      self.init(.unsupportedEngine, (path.map { "\($0): " } ?? "") + "\(error)")
      underlying = error
    case .readOnly(let path):
      self.init(.readOnly, Self.whyReadOnly(path))
    case .follower(let path):
      self.init(
        .readOnly,
        "\(path ?? "The store") follows the log of another store and cannot be written. Write to "
          + "that store.")
    case .inUse(let path):
      self.init(
        .inUse,
        "\(path ?? "The store") is in use by another process or store. Close the store there, then "
          + "try again.")
    case .busy(let path, let process): self.init(busy: process, path)
    case .fileReplaced(let path):
      self.init(
        .fileReplaced,
        "\(path ?? "The store's engine") was removed, replaced or overwritten by another program "
          + "while it was open. Nothing more will be written to it. Close the store wherever it is "
          + "open, then reopen it.")
    case .inputOutput(let operation, let path, let errno): self.init(operation, path, errno)
    case .missing(let path):
      let folder = Self.folder(of: path)
      self.init(
        .fileUnreadable,
        FileManager.default.fileExists(atPath: folder)
          ? "There is no store at \(path). Check the path, or pass a model to create the store."
          : "There is no folder \(folder). Check the path, or create the folder.")
    default: self.init(.inputOutput, "\(error)")
    }
  }

  private static func folder(of path: String) -> String {
    URL(filePath: path).deletingLastPathComponent().path
  }

  /// Returns a message that distinguishes missing permissions from a store that was opened for
  /// reading.
  private static func whyReadOnly(_ path: String?) -> String {
    guard let path else { return "The store was opened read-only. Reopen it for writing." }
    let files = FileManager.default
    let folder = folder(of: path)
    let exists = files.fileExists(atPath: path)
    if exists, !files.isReadableFile(atPath: path) {
      return "\(path) cannot be read. Check its permissions."
    }
    if !files.isWritableFile(atPath: folder) {
      return "The folder \(folder) is not writable. "
        + (exists
          ? "Check its permissions, or set StoreOptions.isImmutable to read a store that no "
            + "process changes."
          : "Check its permissions, or create the store in another folder.")
    }
    if exists, !files.isWritableFile(atPath: path) {
      return "\(path) is not writable. Check its permissions, or open the store read-only."
    }
    return "\(path) is read-only. Open it for writing, or check its permissions."
  }

  private init(_ operation: String, _ path: String?, _ errno: Int32) {
    if let path, errno == EEXIST {
      self.init(
        .inputOutput,
        "\(path) already exists and will not be overwritten. Choose another path.")
    } else {
      self.init(
        .inputOutput,
        "\(operation)\(path.map { " of \($0)" } ?? "") failed: "
          + "\(String(cString: strerror(errno))). Check the path and its permissions.")
    }
    underlying = POSIXErrorCode(rawValue: errno).map { POSIXError($0) }
  }

  private init(conflicts: [CommitConflict], in engine: StoreEngine) {
    let single = conflicts.map { conflict in
      let id = engine.objectID(conflict.number)
      let what = conflict.currentRecord == nil ? "deleted" : "changed"
      return ArborError(
        .conflict,
        "\(id.entityName) \(id.number) was \(what) by another commit. Refresh the object and try "
          + "again, or choose a merge policy."
      ).with(entity: id.entityName, objectID: id)
    }
    self.init(
      gathering: single, .conflict,
      "\(single.count) objects were changed by other commits. Refresh the objects and try again, "
        + "or choose a merge policy.")
  }

  private init(missing: [MissingTarget], in engine: StoreEngine) {
    // Both ends of a link report it. A link whose owner is itself missing is less informative.
    let telling = missing.filter { $0.owner != $0.target }
    let single = (telling.isEmpty ? missing : telling).map { link in
      let (owner, gone) = (engine.objectID(link.owner), engine.objectID(link.target))
      let relationship = engine.schema.entity(of: link.owner)?.relationships
        .first { $0.name == link.relationship }
      let isHidden = relationship?.isHidden ?? false
      let name = isHidden ? relationship.map { engine.schema.inverse(of: $0).name } : nil
      let (from, to) = isHidden ? (gone, owner) : (owner, gone)
      return ArborError(
        .conflict,
        "\(from.entityName) \(from.number) was linked to \(to.entityName) \(to.number) by "
          + "\(name ?? link.relationship), but another commit has deleted \(gone.entityName) "
          + "\(gone.number). Link another object, or refresh \(owner.entityName) \(owner.number) "
          + "to continue without the link."
      ).with(
        entity: owner.entityName, objectID: owner, keyPath: isHidden ? nil : link.relationship,
        underlying: ArborError.OtherObject(objectID: gone))
    }
    self.init(
      gathering: single, .conflict,
      "\(single.count) links refer to objects that other commits have deleted. Link other objects, "
        + "or refresh the owners to continue without the links.")
  }

  private init(linked: [StillLinked], in engine: StoreEngine) {
    let single = linked.map { link in
      let (owner, deleted) = (engine.objectID(link.owner), engine.objectID(link.deleted))
      return ArborError(
        .conflict,
        "\(deleted.entityName) \(deleted.number) cannot be deleted: another commit has linked "
          + "\(owner.entityName) \(owner.number) to it by \(link.relationship). Fetch "
          + "\(owner.entityName) \(owner.number), then delete again."
      ).with(entity: deleted.entityName, objectID: deleted, keyPath: link.relationship)
    }
    self.init(
      gathering: single, .conflict,
      "\(single.count) deleted objects were linked by other commits. Fetch the linked objects, "
        + "then delete again.")
  }

  private init(miscounted: [MiscountedMembers], in engine: StoreEngine) {
    let single = miscounted.map { members in
      let owner = engine.objectID(members.owner)
      return ArborError(
        .conflict,
        "\(owner.entityName) \(owner.number).\(members.relationship) \(members.problem), "
          + "together with the changes of another commit. Correct the members and try again."
      ).with(entity: owner.entityName, objectID: owner, keyPath: members.relationship)
    }
    self.init(
      gathering: single, .conflict,
      "\(single.count) relationships have too few or too many members, together with the changes "
        + "of other commits. Correct the members and try again.")
  }

  private init(notUnique violations: [DuplicateValues], _ message: String) {
    self.init(gathering: Self.sharing(violations), .notUnique, message)
  }

  /// Returns an error for each pair of objects with the same unique value.
  private static func sharing(_ violations: [DuplicateValues]) -> [ArborError] {
    violations.map { violation in
      let (one, other) = (violation.offending, violation.existing)
      let names = violation.properties.joined(separator: ", ")
      return ArborError(
        .notUnique,
        "\(one.entityName) \(one.number) and \(other.entityName) \(other.number) have the same "
          + "\(names), which must be unique in \(violation.entity). Change one of the objects."
      ).with(
        entity: one.entityName, objectID: one, keyPath: violation.properties.joined(separator: ","),
        underlying: ArborError.OtherObject(objectID: other))
    }
  }

  /// Creates an error with the given violations. A single violation becomes the error itself.
  private init(gathering errors: [ArborError], _ code: Code, _ message: String) {
    guard errors.count != 1, !errors.isEmpty else {
      self = errors.first ?? ArborError(code, message)
      violations = errors
      return
    }
    self.init(code, message)
    violations = errors
  }
}

extension StoreEngine {
  /// Returns the result of an operation of the store layer, converting its errors to public ones.
  func reporting<R>(_ work: @autoclosure () throws(StoreError) -> R) throws(ArborError) -> R {
    do throws(StoreError) { return try work() } catch { throw ArborError(error, in: self) }
  }
}

extension ArborError {
  /// The other of two objects involved in an error, as its underlying error: the one that already
  /// has the unique value, or that was deleted while a link to it was created.
  public struct OtherObject: Error, Sendable, CustomStringConvertible {
    /// The other object.
    public let objectID: ObjectID
    /// The object's ID as text.
    public var description: String { "\(objectID)" }
  }
}
