internal import ArborModel
internal import ArborStore
internal import ArborWork
internal import Foundation

/// Large binaries outside of their records: read when they are asked for, moved out at commit.
///
/// A value that was set stays in the working record until the commit, so that a rollback, a
/// savepoint and a failed commit have nothing to clear away.
extension ManagedObjectContext {
  /// The binary that an object's record refers to. Never fails: where it cannot be had the context
  /// remembers the error.
  func blob(
    _ reference: BlobReference, of object: ManagedObject, _ field: RecordField
  ) -> Data? {
    if let data = unstoredBlob(BlobName(reference, of: object.number, field)) { return data }
    do throws(ArborError) {
      return try peek { snapshot throws(StoreError) in
        try snapshot.blob(reference, of: object.number, field)
      }
    } catch {
      note(error)
      return nil
    }
  }

  /// A binary that is not in the store: not yet, or not any more.
  func unstoredBlob(_ name: BlobName) -> Data? { newBlobs[name] ?? retiredBlobs[name] }

  /// Moves large values out of the records that a commit is about to write. They are kept here for
  /// its change set.
  func moveBlobsOut() throws(ArborError) {
    guard work.schema.entities.contains(where: { !$0.layout.externalFields.isEmpty }) else {
      return
    }
    if !keepsRetiredBlobs { retiredBlobs = [:] }
    for change in work.pending.all {
      let entity = change.live.binding.entity
      guard !entity.layout.externalFields.isEmpty else { continue }
      if keepsRetiredBlobs { try retireBlobs(of: change) }
      guard change.kind == .inserted || change.kind == .updated else { continue }
      let values = valuesToMove(of: change, isAllowed: store.file.keepsBlobs(of: entity))
      if !values.isEmpty { move(values, of: change) }
    }
  }

  /// What has to lie elsewhere than it does; nil for a value that is lost.
  private func valuesToMove(
    of change: PendingObject, isAllowed: Bool
  ) -> [(field: RecordField, data: Data?)] {
    let object = change.live
    let record = object.currentRecord
    var values: [(field: RecordField, data: Data?)] = []
    for field in object.binding.entity.layout.externalFields where !record.isNull(field) {
      switch record.content(field) {
      case .value(let bytes):
        guard isAllowed, bytes.count >= StoreFormat.leastBlobSize else { continue }
        values.append((field, Data(bytes)))
      case .reference(let reference):
        let name = BlobName(reference, of: object.number, field)
        guard change.committed?.blob(field) != reference, newBlobs[name] == nil else { continue }
        // An earlier record has come back, whose binary went from the store with it.
        values.append((field, retiredBlobs[name]))
      }
    }
    return values
  }

  /// Gives an object a record that refers to the values.
  private func move(_ values: [(field: RecordField, data: Data?)], of change: PendingObject) {
    let object = change.live
    let layout = object.binding.entity.layout
    let record = object.currentRecord
    work.recordEdit(of: object)
    // Compact: the bytes of the values do not come along.
    var working = RecordBuffer(copying: layout.template, into: work.allocator)
    for field in layout.fields where !values.contains(where: { $0.field == field }) {
      working.copy(field, from: record, allocator: work.allocator)
    }
    for (field, data) in values {
      guard let data else { continue }
      let reference = BlobStorage.reference(
        to: data, of: object.number, version: change.baseVersion &+ 1)
      newBlobs[BlobName(reference, of: object.number, field)] = data
      working.store(field, reference, allocator: work.allocator)
    }
    working.setVersion(record.version)
    change.working = working
    change.begin(work.epoch, in: work.pending)
    object.hold(working.view, working.slab)
  }

  /// Reads what a change takes out of the store, for records that may come back.
  private func retireBlobs(of change: PendingObject) throws(ArborError) {
    guard let committed = change.committed else { return }
    let object = change.live
    for field in object.binding.entity.layout.externalFields {
      guard let reference = committed.blob(field),
        change.kind == .deleted || object.currentRecord.blob(field) != reference
      else { continue }
      let name = BlobName(reference, of: object.number, field)
      guard retiredBlobs[name] == nil else { continue }
      retiredBlobs[name] = try peek { snapshot throws(StoreError) in
        try snapshot.blob(reference, of: object.number, field)
      }
    }
  }

  /// Lets go of the binaries that only groups refer to which the undo history has forgotten. After
  /// a commit all others are in the store. Linear in the steps of the history, where it has
  /// forgotten any.
  func releaseBlobs() {
    guard !retiredBlobs.isEmpty, let stack = work.undo, stack.hasForgotten else { return }
    stack.hasForgotten = false
    var kept: [BlobName: Data] = [:]
    stack.forEachRecord { object, record in
      for field in object.live.binding.entity.layout.externalFields {
        guard let reference = record.blob(field) else { continue }
        let name = BlobName(reference, of: object.number, field)
        kept[name] = retiredBlobs[name]
      }
    }
    retiredBlobs = kept
  }

  /// The binaries that a record refers to and the commit brings along.
  func newBlobs(of object: ManagedObject, _ record: RecordView) -> [ChangeSet.Blob] {
    guard !newBlobs.isEmpty else { return [] }
    return object.binding.entity.layout.externalFields.compactMap { field in
      guard let reference = record.blob(field) else { return nil }
      let name = BlobName(reference, of: object.number, field)
      return newBlobs[name].map { ChangeSet.Blob(name, $0) }
    }
  }
}

extension ManagedObject {
  /// The value of a field, loaded where it lies outside of the record; references are numbers.
  ///
  /// Where it cannot be had the attribute's default stands in, and the context remembers the
  /// error.
  final func value(of field: RecordField, in record: RecordView) -> Value {
    guard field.isExternal, let reference = record.blob(field) else { return record.value(field) }
    if let data = owner?.blob(reference, of: self, field) { return .binary(data) }
    return binding.template.value(field)
  }
}
