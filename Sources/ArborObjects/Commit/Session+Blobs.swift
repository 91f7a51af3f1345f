internal import ArborFoundation
internal import ArborModel
internal import ArborStore

/// The large binary values of a session that are neither in records nor in the store.
struct UnstoredBlobs {
  /// Binary values moved out of records for the commit in progress.
  fileprivate(set) var moved: [BlobName: Data] = [:]
  /// Binary values removed from the store by commits of the context, kept for records that may be
  /// restored.
  fileprivate(set) var retired: [BlobName: Data] = [:]

  /// The binary value with a name, if it is not yet, or no longer, in the store.
  subscript(name: BlobName) -> Data? { moved[name] ?? retired[name] }

  mutating func forgetMoved() { moved = [:] }

  mutating func forgetRetired() { retired = [:] }
}

/// Large binary values stored outside of records: loaded on access, and moved out of records on
/// commit.
///
/// A new value stays in the working record until the commit, so a rollback, a savepoint or a failed
/// commit needs no cleanup.
extension Session {
  /// Whether records of earlier commits may be restored.
  private var keepsRetired: Bool { undo != nil }

  /// Returns the binary value referenced by an object's record. Never fails: if it cannot be read,
  /// the context keeps the error.
  func blob(_ reference: BlobReference, of object: ManagedObject, _ field: RecordField) -> Data? {
    if let data = blobs[BlobName(reference, of: object.number, field)] { return data }
    return known(nil) { snapshot throws(StoreError) in
      try snapshot.blob(reference, of: object.number, field)
    }
  }

  /// Moves large values out of the records that a commit is about to write, and keeps them for its
  /// change set.
  func moveBlobsOut() throws(ArborError) {
    guard schema.entities.contains(where: { !$0.layout.externalFields.isEmpty }) else {
      return
    }
    if !keepsRetired { blobs.retired = [:] }
    for change in pending.all {
      let entity = change.object.binding.entity
      guard !entity.layout.externalFields.isEmpty else { continue }
      if keepsRetired { try retire(of: change) }
      guard change.kind == .inserted || change.kind == .updated else { continue }
      let values = valuesToMove(of: change, isAllowed: entity.keepsBlobs)
      if !values.isEmpty { move(values, of: change) }
    }
  }

  /// Returns the values that must be stored outside of the record. `nil` marks a value that is
  /// lost.
  private func valuesToMove(
    of change: PendingObject, isAllowed: Bool
  ) -> [(field: RecordField, data: Data?)] {
    let object = change.object
    let record = object.currentRecord
    var values: [(field: RecordField, data: Data?)] = []
    for field in object.binding.entity.layout.externalFields where !record.isNull(field) {
      switch record.content(field) {
      case .value(let bytes):
        guard isAllowed, bytes.count >= StoreFormat.leastBlobSize else { continue }
        values.append((field, Data(bytes)))
      case .reference(let reference):
        let name = BlobName(reference, of: object.number, field)
        guard change.committed?.blob(field) != reference, blobs.moved[name] == nil else { continue }
        // An earlier record was restored, whose binary value has been removed from the store with
        // it.
        values.append((field, blobs.retired[name]))
      }
    }
    return values
  }

  private func move(_ values: [(field: RecordField, data: Data?)], of change: PendingObject) {
    let object = change.object
    let layout = object.binding.entity.layout
    let record = object.currentRecord
    recordEdit(of: object)
    // Creates a compact record without the bytes of the moved values.
    var working = RecordBuffer(copying: layout.template, into: allocator)
    for field in layout.fields where !values.contains(where: { $0.field == field }) {
      working.copy(field, from: record, allocator: allocator)
    }
    for (field, data) in values {
      guard let data else { continue }
      let reference = BlobStorage.reference(
        to: data, of: object.number, version: change.baseVersion &+ 1)
      blobs.moved[BlobName(reference, of: object.number, field)] = data
      working.store(field, reference, allocator: allocator)
    }
    working.setVersion(record.version)
    change.working = working
    change.begin(epoch, in: pending)
    object.hold(working.view, working.slab)
  }

  /// Loads the binary values that a change removes from the store, for records that may be
  /// restored.
  private func retire(of change: PendingObject) throws(ArborError) {
    guard let committed = change.committed else { return }
    let object = change.object
    for field in object.binding.entity.layout.externalFields {
      guard let reference = committed.blob(field),
        change.kind == .deleted || object.currentRecord.blob(field) != reference
      else { continue }
      let name = BlobName(reference, of: object.number, field)
      guard blobs.retired[name] == nil else { continue }
      blobs.retired[name] = try engine.reporting(
        peek { snapshot throws(StoreError) in
          try snapshot.blob(reference, of: object.number, field)
        })
    }
  }

  /// Releases binary values that are referenced only by groups the undo history has discarded.
  /// After a commit, all others are in the store. Takes time linear in the number of recorded edits
  /// if the history has discarded any.
  func releaseBlobs() {
    guard !blobs.retired.isEmpty, let undo, undo.hasForgotten else { return }
    undo.hasForgotten = false
    var kept: [BlobName: Data] = [:]
    undo.forEachRecord { object, record in
      for field in object.binding.entity.layout.externalFields {
        guard let reference = record.blob(field) else { continue }
        let name = BlobName(reference, of: object.number, field)
        kept[name] = blobs.retired[name]
      }
    }
    blobs.retired = kept
  }

  /// Returns the moved binary values that are referenced by the records of the commit.
  func movedBlobs(of records: [ChangeSet.RecordChange]) -> [ChangeSet.Blob] {
    guard !blobs.moved.isEmpty else { return [] }
    var moved: [ChangeSet.Blob] = []
    for change in records {
      guard let record = change.record, let entity = schema.entity(of: change.number)
      else { continue }
      for field in entity.layout.externalFields {
        guard let reference = record.blob(field) else { continue }
        let name = BlobName(reference, of: change.number, field)
        if let data = blobs.moved[name] { moved.append(ChangeSet.Blob(name, data)) }
      }
    }
    return moved
  }
}

extension ManagedObject {
  /// Returns the value of a field, loading external data. References are returned as numbers.
  ///
  /// If it cannot be read, the attribute's default value is returned, and the context keeps the
  /// error.
  final func value(of field: RecordField, in record: RecordView) -> PropertyValue {
    guard field.isExternal, let reference = record.blob(field) else { return record.value(field) }
    if let session {
      if let data = session.blob(reference, of: self, field) { return .binary(data) }
    } else if let property = binding.recordProperties.first(where: { $0.field == field }) {
      noteLostRead(property.name)
    }
    return binding.template.value(field)
  }
}
