package import ArborModel
package import Foundation
package import LMDB

/// Why the store refused or failed an operation.
///
/// Indirect, so that it is one word, which functions that may throw hand back in a register.
package indirect enum StoreError: Error, Sendable {
  /// Bytes of the file are not what was written; the object they were read for, where known.
  case corrupted(entity: String? = nil, object: ObjectNumber? = nil, what: String)
  /// Objects that another commit changed meanwhile, with their present state.
  case conflict([CommitConflict])
  /// Links to objects that are not in the store, or no longer.
  case missingTargets([MissingTarget])
  /// Deleted objects that others still link to.
  case stillLinked([StillLinked])
  /// Objects that share values which must be unique.
  case notUnique([UniquenessViolation])
  /// Objects that share values which the model the store is opened with makes unique.
  case duplicateValues([DuplicateValues])
  /// Objects that came to share values while a unique index was filled, which is not ready.
  case duplicatesBuilt([DuplicateValues])
  /// Application metadata that a commit wanted to be the first to write.
  case metadataExists(String)
  /// A query whose arguments do not fit its predicate.
  case query(ArborError)
  /// Work that was ended before it was done.
  case interrupted(Interruption)
  /// The file was written with another model, and is not brought to the given one.
  case modelMismatch(MigrationRefusal)
  /// Another process has given the file another model since it was opened.
  case modelChanged
  /// The store is being migrated in a copy, and nothing else may write to it.
  case migrationUnderWay(MigrationMarker)
  /// A migration that is not reverted, since objects were changed with the newer model.
  case notReverted(MigrationRefusal)
  /// The file's format is of a later version than this library reads.
  case formatTooNew(major: Int, minor: Int)
  /// The path leads to something that is no store.
  case notAStore(path: String, what: String)
  /// A path that no file can have.
  case invalidPath(String)
  /// The version of LMDB that the program runs with, or that wrote the file, does not fit.
  case unsupportedEngine(path: String?, what: LMDBError)
  /// The store was opened for reading, or its folder or medium cannot be written.
  case readOnly(path: String?)
  /// Others have added commits to the log that the store shares, which come first.
  case behindLog
  /// Whether the commits of a batch are in the log that the store shares is not known.
  case outcomeUnknown(batch: UUID)
  /// The commits of a batch are in the log that the store shares, and could not be written to the
  /// file.
  case inLogOnly(batch: UUID, StoreError)
  /// What the log that the store shares said, or what keeps the two apart.
  case log(ArborError)
  /// The store follows a log, and only commits of that are written to it.
  case follower(path: String?)
  /// There is no store at the path, and nothing says what one there would hold.
  case missing(path: String)
  /// A model that contradicts itself.
  case invalidModel(ArborError)
  /// Something else holds the file open.
  case inUse(path: String?)
  /// The file was removed, replaced or written over by another program while it was open.
  case fileReplaced(path: String?)
  /// The store has been closed.
  case closed
  /// No room on the disk, or a file-size limit.
  case diskFull(path: String? = nil)
  /// The operating system refused a call.
  case inputOutput(operation: String, path: String?, errno: Int32)
  /// An ID that names no object of this store.
  case foreignObject(String)
  /// A change set that contradicts itself or the schema: a defect of the code that made it.
  case invalidChange(ObjectNumber?, what: String)
  /// Numbers that are used up.
  case exhausted(String)
  /// Any other error of the engine.
  case engine(LMDBError)
}

/// An object that changed since a change set was made.
package struct CommitConflict: Sendable, Hashable {
  package let number: ObjectNumber
  package let baseVersion: UInt32
  /// The stored record, in the newest layout; nil where the object is gone.
  package let currentRecord: [UInt8]?

  package init(number: ObjectNumber, baseVersion: UInt32, currentRecord: [UInt8]?) {
    self.number = number
    self.baseVersion = baseVersion
    self.currentRecord = currentRecord
  }
}

/// A link to an object that is not there.
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

/// A deleted object that another one still links to.
package struct StillLinked: Sendable, Hashable {
  package let deleted: ObjectNumber
  package let owner: ObjectNumber
  /// The owner's relationship that leads to the deleted object.
  package let relationship: String
}

/// Two objects with one unique value.
package struct UniquenessViolation: Sendable, Hashable {
  /// The entity that declares the constraint.
  package let entity: String
  package let properties: [String]
  /// The object that holds the values: stored, or another of the same change set.
  package let existing: ObjectNumber
  /// The object of the change set that claims them too.
  package let offending: ObjectNumber
}

/// Two objects with one unique value, named for whom the store is not open.
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
