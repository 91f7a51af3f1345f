package import ArborFoundation
package import ArborModel
package import LMDB

/// The reason why the store rejected an operation, or why the operation failed.
///
/// Indirect, so that it has the size of one word, which throwing functions return in a register.
package indirect enum StoreError: Error, Sendable {
  /// Bytes of the file are damaged. Includes the object for which they were read, if known.
  case corrupted(entity: String? = nil, object: ObjectNumber? = nil, what: String)
  /// Objects have been changed by another commit in the meantime. Contains their current state.
  case conflict([CommitConflict])
  /// Links refer to objects that are not in the store.
  case missingTargets([MissingTarget])
  /// Other objects still link to deleted ones.
  case stillLinked([StillLinked])
  /// Relationships would have too few or too many members, because other commits have changed them
  /// as well.
  case miscounted([MiscountedMembers])
  /// Objects share values that must be unique.
  case notUnique([UniquenessViolation])
  /// Objects share values that must be unique in the model that the store is opened with.
  case duplicateValues([DuplicateValues])
  /// Objects share values that were written while a unique index was being built. The index is not
  /// ready.
  case duplicatesBuilt([DuplicateValues])
  /// The query of a claim finds no object.
  case nothingToClaim
  /// Application metadata that a commit expected to be absent already exists.
  case metadataExists(String)
  /// The arguments of a query do not fit its predicate.
  case query(ArborError)
  /// The operation was interrupted.
  case interrupted(Interruption)
  /// The file was written with another model and is not migrated to the given one.
  case modelMismatch(MigrationRefusal)
  /// Another process has migrated the file to another model since it was opened.
  case modelChanged
  /// The store is being migrated in a copy and must not be written otherwise.
  case migrationUnderWay(MigrationMarker)
  /// A migration was not reverted because objects were changed with the newer model.
  case notReverted(MigrationRefusal)
  /// The file has a later format version than this library can read.
  case formatTooNew(major: Int, minor: Int)
  /// The path refers to something that is not a store.
  case notAStore(path: String, what: String)
  /// The path is not valid.
  case invalidPath(String)
  /// The LMDB version that the program is linked with, or that wrote the file, is not supported.
  case unsupportedEngine(path: String?, what: LMDBError)
  /// The store was opened read-only, or its folder or medium is not writable.
  case readOnly(path: String?)
  /// Other stores have appended commits to the shared log that have to be applied first.
  case behindLog
  /// It is unknown whether the commits of a batch are in the shared log.
  case outcomeUnknown(batch: UUID)
  /// The commits of a batch are in the shared log, but could not be written to the file.
  case inLogOnly(batch: UUID, StoreError)
  /// An error of the shared log, or a divergence between it and the store.
  case log(ArborError)
  /// The store's journal cannot be used as it is.
  case journal(ArborError)
  /// The store follows a log, and only commits from the log are written to it.
  case follower(path: String?)
  /// There is no store at the path, and no model to create one with.
  case missing(path: String)
  /// The model is inconsistent.
  case invalidModel(ArborError)
  /// The file is open elsewhere.
  case inUse(path: String?)
  /// Another transaction has kept this one waiting for too long.
  case busy(path: String?, BusyProcess)
  /// The file was removed, replaced or overwritten by another program while it was open.
  case fileReplaced(path: String?)
  /// The store has been closed.
  case closed
  /// The disk is full, or a file-size limit was reached.
  case diskFull(path: String? = nil)
  /// A system call failed.
  case inputOutput(operation: String, path: String?, errno: Int32)
  /// An ID does not refer to an object of this store.
  case foreignObject(String)
  /// A change set is inconsistent with itself or the schema, which is a bug of the code that
  /// created it.
  case invalidChange(ObjectNumber?, what: String)
  /// A derived value doesn't fit its attribute.
  case unfitValue(ObjectNumber, keyPath: String, what: String, value: String)
  /// There are no numbers left to assign.
  case exhausted(String)
  /// Any other error of LMDB.
  case engine(LMDBError)
}

/// The process whose transaction has kept another one waiting.
package struct BusyProcess: Sendable, Hashable {
  package let id: Int32
  /// The name, if the system provides it.
  package let name: String?
  /// The time at which the transaction began, or `nil` if it isn't known.
  package let since: Date?

  package init(_ writer: BusyWriter) {
    id = writer.processID
    name = ProcessName.of(writer.processID)
    since = writer.since == 0 ? nil : Date(timeIntervalSince1970: Double(writer.since))
  }

  /// Whether it is the current process.
  package var isOwn: Bool { id == getpid() }
}

/// An object that has changed since a change set was created.
package struct CommitConflict: Sendable, Hashable {
  package let number: ObjectNumber
  package let baseVersion: UInt32
  /// The stored record, in the newest layout, or `nil` if the object no longer exists.
  package let currentRecord: [UInt8]?

  package init(number: ObjectNumber, baseVersion: UInt32, currentRecord: [UInt8]?) {
    self.number = number
    self.baseVersion = baseVersion
    self.currentRecord = currentRecord
  }
}

/// A link to an object that does not exist.
package struct MissingTarget: Sendable, Hashable {
  package let owner: ObjectNumber
  package let relationship: String
  package let target: ObjectNumber

  package init(owner: ObjectNumber, relationship: String, target: ObjectNumber) {
    self.owner = owner
    self.relationship = relationship
    self.target = target
  }
}

/// A deleted object that another object still links to.
package struct StillLinked: Sendable, Hashable {
  package let deleted: ObjectNumber
  package let owner: ObjectNumber
  /// The owner's relationship that refers to the deleted object.
  package let relationship: String

  package init(deleted: ObjectNumber, owner: ObjectNumber, relationship: String) {
    self.deleted = deleted
    self.owner = owner
    self.relationship = relationship
  }
}

/// A relationship with a number of members that the model doesn't allow.
package struct MiscountedMembers: Sendable, Hashable {
  package let owner: ObjectNumber
  package let relationship: String
  /// A description of the problem; see `RelationshipSchema.problem(ofCount:)`.
  package let problem: String
}

/// Two objects with the same unique value.
package struct UniquenessViolation: Sendable, Hashable {
  /// The entity that declares the constraint.
  package let entity: String
  package let properties: [String]
  /// The object that has the values: a stored object, or another object of the same change set.
  package let existing: ObjectNumber
  /// The object of the change set that claims the same values.
  package let offending: ObjectNumber
}

/// Two objects with the same unique value, identified by ID for callers without an open store.
package struct DuplicateValues: Sendable, Hashable {
  /// The entity that declares the constraint.
  package let entity: String
  package let properties: [String]
  package let existing: ObjectID
  package let offending: ObjectID

  package init(_ violation: UniquenessViolation, _ schema: ModelSchema, _ storeID: UUID) {
    entity = violation.entity
    properties = violation.properties
    existing = Self.id(of: violation.existing, schema, storeID)
    offending = Self.id(of: violation.offending, schema, storeID)
  }

  private static func id(
    of number: ObjectNumber, _ schema: ModelSchema, _ storeID: UUID
  ) -> ObjectID {
    ObjectID(
      storeID: storeID, entityName: schema.entity(of: number)?.name ?? "", number: number.sequence)
  }
}
