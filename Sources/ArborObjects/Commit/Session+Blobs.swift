internal import ArborModel
internal import ArborStore
internal import Foundation

/// The large binaries of a session that are outside of records and not in the store.
struct UnstoredBlobs {
  /// Those that the commit under way moves out of the records.
  fileprivate(set) var moved: [BlobName: Data] = [:]
  /// Those that commits of the context took out of the store, for records that may come back.
  fileprivate(set) var retired: [BlobName: Data] = [:]

  /// A binary that is not in the store: not yet, or not any more.
  subscript(name: BlobName) -> Data? { moved[name] ?? retired[name] }

  mutating func forgetMoved() { moved = [:] }

  mutating func forgetRetired() { retired = [:] }
}

/// Large binaries outside of their records: read when they are asked for, moved out at commit.
///
/// A value that was set stays in the working record until the commit, so that a rollback, a
/// savepoint and a failed commit have nothing to clear away.
extension Session {
  /// Whether records of earlier commits may come back.
  private var keepsRetired: Bool { undo != nil }

  /// The binary that an object's record refers to. Never fails: where it cannot be had the context
  /// remembers the error.
  func blob(_ reference: BlobReference, of object: ManagedObject, _ field: RecordField) -> Data? {
    if let data = blobs[BlobName(reference, of: object.number, field)] { return data }
    return known(nil) { snapshot throws(StoreError) in
      try snapshot.blob(reference, of: object.number, field)
    }
  }

  /// Moves large values out of the records that a commit is about to write. They are kept here for
  /// its change set.
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

  /// What has to lie elsewhere than it does; nil for a value that is lost.
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
        // An earlier record has come back, whose binary went from the store with it.
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
    // Compact: the bytes of the values do not come along.
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

  /// Reads what a change takes out of the store, for records that may come back.
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

  /// Lets go of the binaries that only groups refer to which the undo history has forgotten. After
  /// a commit all others are in the store. Linear in the steps of the history, where it has
  /// forgotten any.
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

  /// The binaries that records refer to and the commit brings along.
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
  /// The value of a field, loaded where it lies outside of the record; references are numbers.
  ///
  /// Where it cannot be had the attribute's default stands in, and the context remembers the
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
