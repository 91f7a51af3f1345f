package import ArborFoundation
package import ArborModel

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
  /// The changed records, at most one per object, in any order.
  package var records: [RecordChange] = []
  /// The edits of relationships whose storage is `.links`. Each of the two sides has its own edits.
  ///
  /// Edits of one owner's relationship take effect in order. The links of a deleted object are
  /// removed without an edit.
  package var links: [LinkEdit] = []
  /// The author, for the history.
  package var author: String?
  /// The name of the committing context, for the history.
  package var contextName: String?
  /// Application metadata to set, or to remove if the value is `nil`.
  package var metadata: [(key: String, value: [UInt8]?)] = []
  /// Application metadata that must not exist yet. Operations that may happen only once leave such
  /// a mark; of several commits with the same mark, only the first succeeds.
  package var absentMetadata: [String] = []

  /// The new binary values that records of the set refer to.
  package var blobs: [Blob] = []
  /// Whether to remove all objects and all application metadata. The set is empty otherwise.
  package var purges = false
  /// Whether to confirm the last migration, so that it can no longer be reverted. The set is empty
  /// otherwise.
  package var confirmsMigration = false
  /// Existing objects whose derived values are all computed from scratch.
  package var recomputed: [ObjectNumber] = []
  /// The object to choose and change in the transaction, or `nil` for none. The set contains no
  /// records and links otherwise.
  package var claim: Claim?

  /// The ``BlobHold`` of the committing context, which has its own copies of removed values.
  package var blobHolder: ObjectIdentifier?

  package init() {}

  /// Whether there is nothing to write.
  package var isEmpty: Bool {
    records.isEmpty && links.isEmpty && metadata.isEmpty && recomputed.isEmpty && claim == nil
      && !purges && !confirmsMigration
  }
}

extension ChangeSet {
  /// A binary value that is stored outside its record.
  package struct Blob {
    package let name: BlobName
    package let data: Data

    package init(_ name: BlobName, _ data: Data) {
      self.name = name
      self.data = data
    }
  }

  /// A change of one object.
  package struct RecordChange {
    /// The kind of a change. The raw values are stored in the history and must never change.
    package enum Kind: UInt8, Sendable, Hashable {
      case insert = 1
      case update = 2
      case delete = 3
    }

    package let number: ObjectNumber
    package let kind: Kind
    /// The version of the record that was changed. For an insertion, a former version of the
    /// deleted object that is restored, or 0 for a new object.
    package let baseVersion: UInt32
    /// The new record, in the newest layout and unsealed, or `nil` for a deletion. Its derived fields
    /// are ignored.
    package let record: RecordView?
    /// The changed properties: one bit per field of the layout, then one per relationship that is
    /// stored as links. The highest bit represents all properties from the 64th on. See
    /// ``EntitySchema/propertyNames(changed:)``.
    package let changedProperties: UInt64
    /// Whether only derived values change, which the commit writer computes. The object keeps its
    /// version, so that commits that affect the same derived value don't conflict.
    private(set) var isDerived = false

    /// The bit for all properties without their own bit.
    package static let otherProperties = EntitySchema.otherProperties

    /// Creates the insertion of a new object, which is stored with version 1, or of a deleted
    /// object that is restored, with a version above all its earlier ones; see ``version(in:)``.
    package static func insert(
      _ number: ObjectNumber, _ record: RecordView, after formerVersion: UInt32 = 0
    ) -> RecordChange {
      RecordChange(
        number: number, kind: .insert, baseVersion: formerVersion, record: record,
        changedProperties: .max)
    }

    /// Creates the update of an object that is based on its version `baseVersion`. The update is
    /// stored with the next version.
    package static func update(
      _ number: ObjectNumber, from baseVersion: UInt32, _ record: RecordView,
      changedProperties: UInt64
    ) -> RecordChange {
      RecordChange(
        number: number, kind: .update, baseVersion: baseVersion, record: record,
        changedProperties: changedProperties)
    }

    /// Returns the version with which a commit stores the object.
    ///
    /// For a restored object, it is the sequence number itself, so that its record cannot be
    /// mistaken for an earlier one: a commit increases an object's version by at most one, so any
    /// version that was stored in the meantime is lower.
    package func version(in sequence: UInt64) -> UInt32 {
      if isDerived { return baseVersion }
      let next = baseVersion &+ 1
      guard kind == .insert, baseVersion > 0 else { return next }
      return max(next, UInt32(truncatingIfNeeded: sequence))
    }

    /// Creates the update of an object of which only derived values change.
    static func derive(
      _ number: ObjectNumber, version: UInt32, _ record: RecordView, changedProperties: UInt64
    ) -> RecordChange {
      var change = RecordChange(
        number: number, kind: .update, baseVersion: version, record: record,
        changedProperties: changedProperties)
      change.isDerived = true
      return change
    }

    /// Creates the deletion of an object.
    package static func delete(_ number: ObjectNumber, from baseVersion: UInt32) -> RecordChange {
      RecordChange(
        number: number, kind: .delete, baseVersion: baseVersion, record: nil,
        changedProperties: .max)
    }
  }

  /// The choice of an object by the transaction that writes the set: the first one that a query finds
  /// in the state before the set is changed. A class, because sets are copied and few have one.
  package final class Claim {
    package let query: StoreQuery
    /// The attributes and to-one relationships to set. Only those that
    /// ``EntitySchema/isClaimable(_:in:)`` accepts.
    package let values: [(property: String, value: PropertyValue)]
    /// The version of the only object that may be chosen, or `nil` for any.
    package let expected: (number: ObjectNumber, version: UInt32)?
    package let locale: Locale?
    package let deadline: ContinuousClock.Instant?

    package init(
      _ query: StoreQuery, setting values: [(property: String, value: PropertyValue)],
      expecting expected: (number: ObjectNumber, version: UInt32)?, locale: Locale?,
      deadline: ContinuousClock.Instant?
    ) {
      self.query = query
      self.values = values
      self.expected = expected
      self.locale = locale
      self.deadline = deadline
    }
  }

  /// A change of one owner's members in a relationship whose storage is `.links`.
  package struct LinkEdit {
    package enum Edit {
      /// Links a member, at the end of an ordered relationship. Does nothing if it already is a
      /// member.
      case add(ObjectNumber)
      /// Unlinks a member. Does nothing if it isn't a member.
      case remove(ObjectNumber)
      /// Sets the complete new member list of an ordered relationship.
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

/// The result of a successful commit.
package struct CommitReceipt: Sendable, Hashable {
  /// The commit's sequence number in the store's history.
  package let sequence: UInt64
  /// The objects outside the change set whose derived values have changed.
  package var owners: [HistoryEntry.Change] = []
  /// The number and record of the claimed object, if the change set contained a claim.
  package var claimed: ClaimedObject?
}

/// An object that a commit has claimed.
package struct ClaimedObject: Sendable, Hashable {
  package let number: ObjectNumber
  /// The record with the values that were set. Its derived values are those before the commit.
  package let record: [UInt8]
}
