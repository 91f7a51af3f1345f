package import ArborFoundation
package import ArborModel

/// The record of one commit in the history.
package struct HistoryEntry: Sendable, Hashable {
  /// An object that a commit inserted, changed or deleted.
  package struct Change: Sendable, Hashable {
    package let number: ObjectNumber
    package let kind: ChangeSet.RecordChange.Kind
    /// The changed properties as in ``ChangeSet/RecordChange/changedProperties``.
    package let changedProperties: UInt64
  }

  /// The preserved data of a deleted object.
  package struct Tombstone: Sendable, Hashable {
    package let number: ObjectNumber
    /// The non-nil values of the attributes that the model marks for preservation, by name.
    package let values: [String: PropertyValue]
  }

  package let sequence: UInt64
  package let date: Date
  package let author: String?
  package let contextName: String?
  /// Whether the commit changed too many objects to list. If so, ``changes`` is empty.
  package let isBulk: Bool
  /// The changes in the order of their object numbers.
  package let changes: [Change]
  /// The tombstones in the order of their object numbers.
  package var tombstones: [Tombstone] = []
}

/// The history after a commit.
package enum HistoryReading: Sendable, Hashable {
  /// The commits, oldest first.
  case entries([HistoryEntry])
  /// Some of the commits have been trimmed. Anything may have changed.
  case tooOld
}

/// The commit after another one.
package enum NextEntry: Sendable, Hashable {
  /// There is no later commit yet.
  case none
  /// The next commit.
  case entry(HistoryEntry)
  /// The commit has been trimmed. Anything may have changed up to this sequence number.
  case tooOld(UInt64)
}
