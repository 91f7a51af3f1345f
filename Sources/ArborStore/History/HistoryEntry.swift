package import ArborModel
package import Foundation

/// What one commit did, as the store remembers it.
package struct HistoryEntry: Sendable, Hashable {
  /// One object that a commit inserted, changed or deleted.
  package struct Change: Sendable, Hashable {
    package let number: ObjectNumber
    package let kind: ChangeSet.RecordChange.Kind
    /// As in ``ChangeSet/RecordChange/changedProperties``.
    package let changedProperties: UInt64
  }

  /// What is kept of an object that a commit deleted.
  package struct Tombstone: Sendable, Hashable {
    package let number: ObjectNumber
    /// The values of the attributes that the model marks to be kept, by name; those that were nil
    /// are left out.
    package let values: [String: PropertyValue]
  }

  package let sequence: UInt64
  package let date: Date
  package let author: String?
  package let contextName: String?
  /// Whether the commit changed too many objects to list: ``changes`` is empty then.
  package let isBulk: Bool
  /// In the order of the objects' numbers.
  package let changes: [Change]
  /// In the order of the objects' numbers.
  package var tombstones: [Tombstone] = []
}

/// The history after a commit, or that it no longer reaches so far back.
package enum HistoryReading: Sendable, Hashable {
  /// The commits, oldest first.
  case entries([HistoryEntry])
  /// Some of them have been trimmed: take everything as changed.
  case tooOld
}

/// The commit after another one.
package enum NextEntry: Sendable, Hashable {
  /// None exists yet.
  case none
  /// What it did.
  case entry(HistoryEntry)
  /// It has been trimmed: take everything as changed up to this sequence.
  case tooOld(UInt64)
}
