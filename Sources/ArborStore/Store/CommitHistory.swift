internal import ArborModel
internal import Foundation
internal import LMDB

/// What one change set leaves in the history.
struct CommitHistory {
  private let author: String?
  private let contextName: String?
  private let isBulk: Bool
  private let changes: [HistoryEntry.Change]

  /// - Parameters:
  ///   - changes: The set's records in the order of their numbers.
  ///   - schema: The store's.
  init(_ set: ChangeSet, changes: [ChangeSet.RecordChange], schema: ModelSchema) {
    author = set.author
    contextName = set.contextName
    var linkBits: [ObjectNumber: UInt64] = [:]
    for link in set.links {
      let bit = schema.entity(of: link.owner)?.changeBit(ofLinks: link.slot)
      linkBits[link.owner, default: 0] |= bit ?? EntitySchema.otherProperties
    }
    isBulk = changes.count + linkBits.count > StoreFormat.mostListedChanges
    guard !isBulk else {
      self.changes = []
      return
    }
    var listed = changes.map { change in
      HistoryEntry.Change(
        number: change.number, kind: change.kind,
        changedProperties: change.changedProperties
          | (linkBits.removeValue(forKey: change.number) ?? 0))
    }
    if !linkBits.isEmpty {
      listed += linkBits.map {
        HistoryEntry.Change(number: $0.key, kind: .update, changedProperties: $0.value)
      }
      listed.sort { $0.number < $1.number }
    }
    self.changes = listed
  }

  /// An entry that says no more than that everything may have changed.
  static let everything = CommitHistory(isBulk: true)

  private init(isBulk: Bool) {
    author = nil
    contextName = nil
    self.isBulk = isBulk
    changes = []
  }

  /// Checks that no commit behind a basis changed what it is about.
  ///
  /// - Throws: `conflict` of no object where one did, or where nobody can tell any more.
  static func demand(
    _ basis: ChangeSet.Basis, until last: UInt64, _ history: Database, _ reader: TransactionReader
  ) throws(StoreError) {
    var sequence = basis.sequence
    while sequence < last {
      sequence += 1
      let number = sequence
      let bytes = try storing { () throws(LMDBError) in try reader.get(history, key: number) }
      guard let bytes, let entry = HistoryCodec.decode(bytes, sequence: number), !entry.isBulk,
        !entry.changes.contains(where: { basis.entities.contains($0.number.entity) })
      else { throw .conflict([]) }
    }
  }

  /// Writes the entry above all others, and now and then trims the oldest.
  func write(
    _ sequence: UInt64, _ history: Database, _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    let entry = HistoryEntry(
      sequence: sequence, date: Date(), author: author, contextName: contextName,
      isBulk: isBulk, changes: changes)
    let bytes = HistoryCodec.encode(entry)
    try bytes.withUnsafeBufferPointer { (value) throws(LMDBError) in
      _ = try transaction.put(
        history, key: sequence, value: UnsafeRawBufferPointer(value), .append)
    }
    try trim(sequence, history, transaction)
  }

  private func trim(
    _ sequence: UInt64, _ history: Database, _ transaction: borrowing WriteTransaction
  ) throws(LMDBError) {
    let length = StoreFormat.historyLength
    guard sequence.isMultiple(of: StoreFormat.historyTrim), sequence > length else { return }
    let oldest = max(sequence - min(sequence, StoreFormat.longestHistory), 1)
    for number in oldest...(sequence - length) { try transaction.delete(history, key: number) }
  }
}
