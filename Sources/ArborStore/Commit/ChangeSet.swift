package import ArborModel
package import Foundation

/// Everything that one commit of a context writes: records, link edits and application metadata.
///
/// A change set is a proposal with preconditions. The store checks all of them before it writes
/// anything — that each changed record still has the version it was based on, that every object
/// linked to exists, that nothing outside still links to a deleted object, and that unique values
/// stay unique — and either writes the whole set or nothing.
///
/// The records are borrowed: the caller that submits a set keeps their slabs alive until the commit
/// returns.
package struct ChangeSet {
  /// At most one for each object, in any order.
  package var records: [RecordChange] = []
  /// The edits of relationships whose storage is `.links`, for each of the two sides.
  ///
  /// Edits of one owner's relationship take effect in order. What a deleted object owns goes
  /// without an edit.
  package var links: [LinkEdit] = []
  /// Who commits, for the history.
  package var author: String?
  /// The name of the committing context, for the history.
  package var contextName: String?
  /// Application metadata to set, or to remove where the value is nil.
  package var metadata: [(key: String, value: [UInt8]?)] = []
  /// Application metadata that must not be there yet: what may happen once only leaves a mark, and
  /// of several commits with one mark the first is written.
  package var absentMetadata: [String] = []

  /// The binaries that records of the set refer to and the store does not have yet.
  package var blobs: [Blob] = []
  /// Whether all objects and all application metadata go; nothing else is in the set then.
  package var purges = false
  /// Whether the way back from the last migration is given up; nothing else is in the set then.
  package var confirmsMigration = false
  /// What values in the records were computed from; nil where they are nobody else's.
  package var basis: Basis?

  package init() {}

  /// Whether there is nothing to write.
  package var isEmpty: Bool {
    records.isEmpty && links.isEmpty && metadata.isEmpty && !purges && !confirmsMigration
  }
}

extension ChangeSet {
  /// What computed values rest on beside the objects that are written: where a later commit than
  /// the sequence changed an object of one of the entities, they may be out of date, and the set is
  /// refused with a conflict of no object.
  package struct Basis {
    package let sequence: UInt64
    /// Catalogue numbers.
    package let entities: Set<UInt16>

    package init(sequence: UInt64, entities: Set<UInt16>) {
      self.sequence = sequence
      self.entities = entities
    }
  }

  /// A binary outside of its record.
  package struct Blob {
    package let name: BlobName
    package let data: Data

    package init(_ name: BlobName, _ data: Data) {
      self.name = name
      self.data = data
    }
  }

  /// What happens to one object.
  package struct RecordChange {
    /// The raw values are written into the history: never change one.
    package enum Kind: UInt8, Sendable, Hashable {
      case insert = 1
      case update = 2
      case delete = 3
    }

    package let number: ObjectNumber
    package let kind: Kind
    /// The version of the record that the change was made to; of an insertion, a version of the
    /// object's former life, 0 where it had none.
    package let baseVersion: UInt32
    /// The record as it shall be, in the newest layout and unsealed; nil for a deletion.
    package let record: RecordView?
    /// One bit for each changed field of the layout, then one for each relationship that is kept as
    /// links; the highest for all from the 64th on. See ``EntitySchema/propertyNames(changed:)``.
    package let changedProperties: UInt64

    /// The bit that stands for everything without a bit of its own.
    package static let otherProperties = EntitySchema.otherProperties

    /// A new object, which is stored with version 1; or one that was deleted and comes back, with a
    /// version above all that it ever had; see ``version(in:)``.
    package static func insert(
      _ number: ObjectNumber, _ record: RecordView, after formerVersion: UInt32 = 0
    ) -> RecordChange {
      RecordChange(
        number: number, kind: .insert, baseVersion: formerVersion, record: record,
        changedProperties: .max)
    }

    /// An object changed since version `baseVersion`, which is stored with the version after it.
    package static func update(
      _ number: ObjectNumber, from baseVersion: UInt32, _ record: RecordView,
      changedProperties: UInt64
    ) -> RecordChange {
      RecordChange(
        number: number, kind: .update, baseVersion: baseVersion, record: record,
        changedProperties: changedProperties)
    }

    /// The version that the object is stored with by the commit of a sequence.
    ///
    /// Of an object that comes back it is the sequence itself, so that nobody takes its record for
    /// one of a former life: a commit raises the version of an object by one at most, so whatever
    /// others made of the object in the meantime was below.
    package func version(in sequence: UInt64) -> UInt32 {
      let next = baseVersion &+ 1
      guard kind == .insert, baseVersion > 0 else { return next }
      return max(next, UInt32(truncatingIfNeeded: sequence))
    }

    /// An object that goes.
    package static func delete(_ number: ObjectNumber, from baseVersion: UInt32) -> RecordChange {
      RecordChange(
        number: number, kind: .delete, baseVersion: baseVersion, record: nil,
        changedProperties: .max)
    }
  }

  /// A change of one owner's members in a relationship whose storage is `.links`.
  package struct LinkEdit {
    package enum Edit {
      /// Links a member; at the end of an ordered relationship. Nothing where it is one already.
      case add(ObjectNumber)
      /// Unlinks a member. Nothing where it is none.
      case remove(ObjectNumber)
      /// The whole new member list of an ordered relationship.
      case reorder([ObjectNumber])
    }

    package let owner: ObjectNumber
    /// The relationship's slot in the owner's entity.
    package let slot: Int
    package let edit: Edit

    package init(owner: ObjectNumber, slot: Int, _ edit: Edit) {
      self.owner = owner
      self.slot = slot
      self.edit = edit
    }

    package init(owner: ObjectNumber, relationship: RelationshipSchema, _ edit: Edit) {
      self.init(owner: owner, slot: relationship.slot, edit)
    }
  }
}

/// What a successful commit gives back.
package struct CommitReceipt: Sendable, Hashable {
  /// The commit's position in the store's history.
  package let sequence: UInt64
}
