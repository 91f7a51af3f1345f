internal import ArborFoundation
internal import ArborModel
internal import ArborStore

/// The large binary values of a session that are neither in records nor in the store.
struct UnstoredBlobs {
  /// Binary values moved out of records for the commit in progress.
  fileprivate(set) var moved: [BlobKey: Data] = [:]
  /// Binary values removed from the store, kept for records that undo may restore.
  private(set) var retired: [BlobKey: Data] = [:]
  /// The values of `retired` that the commit in progress has added.
  private var retiredByCommit: [BlobKey] = []
  /// The objects whose values the store keeps for this context if other contexts remove them, or
  /// `nil` if there are none.
  fileprivate(set) var hold: BlobHold?

  /// Keeps a value that the commit in progress removes from the store.
  fileprivate mutating func retire(_ key: BlobKey, _ data: Data) {
    retired[key] = data
    retiredByCommit.append(key)
  }

  /// Keeps the values that the store kept for pending changes.
  fileprivate mutating func retire(_ values: [BlobKey: Data]) {
    retired.merge(values) { present, _ in present }
  }

  fileprivate mutating func forgetRetired(except keys: Set<BlobKey>) {
    retired = retired.filter { keys.contains($0.key) }
  }

  mutating func forgetRetired() { retired = [:] }

  /// Forgets what a successful commit has moved out of records.
  mutating func endCommit() {
    moved = [:]
    retiredByCommit = []
  }

  /// Forgets what a failed commit has moved out of records, and what it would have removed from the
  /// store.
  mutating func abandonCommit() {
    for key in retiredByCommit { retired[key] = nil }
    endCommit()
  }
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
    if let data = unstoredBlob(BlobKey(reference, of: object.number, field)) { return data }
    return known(nil) { snapshot throws(StoreError) in
      try snapshot.blob(reference, of: object.number, field)
    }
  }

  /// Returns a binary value that is not yet, or no longer, in the store.
  func unstoredBlob(_ key: BlobKey) -> Data? {
    if let data = blobs.moved[key] ?? blobs.retired[key] { return data }
    return blobs.hold == nil ? nil : engine.retainedBlobs[key]
  }

  /// Makes the store keep an object's present binary values as long as its change is pending, even
  /// if another context of this process removes them: a merge may have to write them again.
  @inline(__always)
  func holdBlobs(of object: ManagedObject, _ record: RecordView) {
    let fields = object.binding.entity.layout.externalFields
    if !fields.isEmpty { holdBlobs(of: object, record, fields) }
  }

  @inline(never)
  private func holdBlobs(of object: ManagedObject, _ record: RecordView, _ fields: [RecordField]) {
    guard fields.contains(where: { record.blob($0) != nil }) else { return }
    let hold = blobs.hold ?? BlobHold(engine)
    blobs.hold = hold
    hold.insert(object.number)
  }

  /// Releases the values that the store keeps for pending changes. Those that undo may restore are
  /// copied first.
  func endBlobHold() {
    guard let hold = blobs.hold else { return }
    if keepsRetired {
      for number in hold.numbers {
        blobs.retire(engine.retainedBlobs.values(of: number))
      }
    }
    blobs.hold = nil
  }

  /// Moves large values out of the records that a commit is about to write, and keeps them for its
  /// change set.
  func moveBlobsOut() throws(ArborError) {
    guard schema.entities.contains(where: { !$0.layout.externalFields.isEmpty }) else {
      return
    }
    if !keepsRetired { blobs.forgetRetired() }
    for change in pending.all {
      let entity = change.object.binding.entity
      guard !entity.layout.externalFields.isEmpty else { continue }
      if keepsRetired { try retire(of: change) }
      guard change.kind == .inserted || change.kind == .updated else { continue }
      let values = valuesToMove(of: change, isAllowed: entity.keepsBlobs)
      if !values.isEmpty { try move(values, of: change) }
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
        guard change.committed?.blob(field) != reference else { continue }
        let key = BlobKey(reference, of: object.number, field)
        // An earlier attempt has named it for the record that is still the newest.
        guard blobs.moved[key] == nil || reference.version != change.baseVersion &+ 1 else {
          continue
        }
        // An earlier attempt was based on an older record, or an earlier record was restored whose
        // binary value has been removed from the store.
        values.append((field, unstoredBlob(key)))
      }
    }
    return values
  }

  private func move(
    _ values: [(field: RecordField, data: Data?)], of change: PendingObject
  ) throws(ArborError) {
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
      guard let data else {
        guard let committed = change.committed else { throw lostBlob(of: object, field) }
        // The context never held the value, and the store has another one by now.
        working.copy(field, from: committed, allocator: allocator)
        continue
      }
      let reference = BlobStorage.reference(
        to: data, of: object.number, version: change.baseVersion &+ 1)
      blobs.moved[BlobKey(reference, of: object.number, field)] = data
      working.store(field, reference, allocator: allocator)
    }
    working.setVersion(record.version)
    change.working = working
    change.begin(epoch, in: pending)
    object.hold(working.view, working.slab)
  }

  private func lostBlob(of object: ManagedObject, _ field: RecordField) -> ArborError {
    let entity = object.binding.entity
    let name = entity.attributes.first { $0.field.offset == field.offset }?.name ?? ""
    return ArborError(
      .conflict,
      "\(entity.name).\(name) can't be restored: another commit has deleted the object, and the "
        + "value is no longer in the store. Set \(name), delete the object, or roll back."
    ).with(entity: entity.name, objectID: object.objectID, keyPath: name)
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
      let key = BlobKey(reference, of: object.number, field)
      guard blobs.retired[key] == nil else { continue }
      if let data = unstoredBlob(key) {
        blobs.retire(key, data)
        continue
      }
      let data = try engine.reporting(
        peek { snapshot throws(StoreError) in
          try snapshot.blob(reference, of: object.number, field)
        })
      // Another commit may have replaced it.
      guard let data,
        BlobStorage.reference(to: data, of: object.number, version: reference.version) == reference
      else { continue }
      blobs.retire(key, data)
    }
  }

  /// Releases binary values that are referenced only by groups the undo history has discarded.
  /// After a commit, all others are in the store. Takes time linear in the number of recorded edits
  /// if the history has discarded any.
  func releaseBlobs() {
    guard !blobs.retired.isEmpty, let undo, undo.hasForgotten else { return }
    undo.hasForgotten = false
    var kept: Set<BlobKey> = []
    undo.forEachBlob { kept.insert($0) }
    blobs.forgetRetired(except: kept)
  }

  /// Returns the moved binary values that the records of the commit newly refer to.
  func movedBlobs(of records: [ChangeSet.RecordChange]) -> [ChangeSet.Blob] {
    guard !blobs.moved.isEmpty else { return [] }
    var moved: [ChangeSet.Blob] = []
    for change in records {
      guard let record = change.record, let entity = schema.entity(of: change.number)
      else { continue }
      let committed = pending.change(of: change.number)?.committed
      for field in entity.layout.externalFields {
        guard let reference = record.blob(field), committed?.blob(field) != reference else {
          continue
        }
        let key = BlobKey(reference, of: change.number, field)
        if let data = blobs.moved[key] { moved.append(ChangeSet.Blob(key.name, data)) }
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
