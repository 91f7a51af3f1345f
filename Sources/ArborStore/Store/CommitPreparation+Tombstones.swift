internal import ArborModel
internal import Foundation
internal import LMDB

/// What is kept of deleted objects: the values of attributes that the model marks so.
extension CommitPreparation {
  /// Notes what is kept of an object that the set deletes.
  func collectTombstone(
    _ number: ObjectNumber, _ record: RecordView, _ plan: EntityPlan
  ) throws(StoreError) {
    var values: [String: Value] = [:]
    for attribute in plan.preserved {
      let value = try value(attribute.field, of: number, record, plan)
      if !value.isNull { values[attribute.name] = value }
    }
    if values.isEmpty { return }
    workspace.tombstones.append(HistoryEntry.Tombstone(number: number, values: values))
  }

  /// A value of the record, or the binary that it refers to.
  private func value(
    _ field: RecordField, of number: ObjectNumber, _ record: RecordView, _ plan: EntityPlan
  ) throws(StoreError) -> Value {
    guard field.isExternal, let reference = record.blob(field) else { return record.value(field) }
    guard let database = store.databases.blobs(plan.entity.index) else { return .null }
    let data = try storing { () throws(LMDBError) in
      try BlobStorage.read(reference, BlobName(reference, of: number, field), database, reader)
    }
    guard let data else {
      throw .corrupted(
        entity: plan.entity.name, object: number,
        what: "A binary that the record refers to is not there, or is damaged.")
    }
    return .binary(data)
  }
}
