internal import ArborModel
internal import ArborStore

/// The derived values that the pending changes would have, shown by objects while validation hooks
/// run.
///
/// The store computes derived values. An object with a preview holds a copy of its record, which
/// pending changes, undo, merging and savepoints never see: a change of the object withdraws the
/// preview first.
final class DerivedPreviews {
  private struct Preview {
    let scratch: RecordBuffer
    let former: RecordView
    let slab: RecordSlab?
  }

  private unowned let session: Session
  private var shown: [ObjectNumber: Preview] = [:]

  private init(_ session: Session) { self.session = session }

  /// Runs `body` while objects show previews.
  ///
  /// - Throws: `validation` if a derived value doesn't fit its attribute.
  static func show(_ session: Session, during body: () throws(ArborError) -> Void)
    throws(ArborError)
  {
    let previews = DerivedPreviews(session)
    try previews.show()
    session.previews = previews
    defer {
      session.previews = nil
      previews.hide()
    }
    try body()
  }

  private func show() throws(ArborError) {
    let changes = session.changeSet(session.newOrders())
    guard !changes.isEmpty else { return }
    let allocator = SlabAllocator(keepsSlabs: true)
    var computed: [(ObjectNumber, RecordView)] = []
    try session.engine.reporting(
      session.engine.previewDerived(of: changes) { number, record in
        guard session.registry.map.contains(number) else { return }
        computed.append((number, RecordBuffer(copying: record.bytes, into: allocator).view))
      })
    for (number, record) in computed {
      guard let object = session.registry.object(number), session.load(object) else { continue }
      show(record, by: object)
    }
    try session.throwFailure()
  }

  private func show(_ record: RecordView, by object: ManagedObject) {
    let layout = object.binding.entity.layout
    guard object.change?.kind != .deleted, let held = object.heldRecord,
      held.differsInDerivedFields(from: record, in: layout)
    else { return }
    var scratch = RecordBuffer(copying: held.bytes, into: session.allocator)
    for field in layout.derivedFields {
      scratch.copy(field, from: record, allocator: session.allocator)
    }
    shown[object.number] = Preview(scratch: scratch, former: held, slab: object.slab)
    object.hold(scratch.view, scratch.slab)
  }

  /// Makes an object show its own record again, before it is changed.
  func withdraw(_ object: ManagedObject) {
    guard let preview = shown.removeValue(forKey: object.number) else { return }
    restore(object, preview)
  }

  private func hide() {
    for (number, preview) in shown {
      if let object = session.registry.object(number) { restore(object, preview) }
    }
    shown = [:]
  }

  private func restore(_ object: ManagedObject, _ preview: Preview) {
    // A merged commit may have replaced the record.
    guard object.base == UnsafeRawPointer(preview.scratch.base) else { return }
    object.hold(preview.former, preview.slab)
  }
}

extension Session {
  /// Whether validation hooks of changed objects may read derived values.
  var needsPreviews: Bool {
    guard schema.hasDerivations else { return false }
    var isNeeded = false
    pending.forEach { if $0.object.binding.hooks.validates { isNeeded = true } }
    return isNeeded
  }

  /// Reads the derived values that a commit of this context has changed, in objects of the commit
  /// and in those that depend on them.
  func takeDerivedValues(_ receipt: CommitReceipt, _ committed: [ManagedObject]) {
    guard schema.hasDerivations else { return }
    var changed = committed.filter {
      $0.session === self && $0.base != nil && !$0.binding.entity.layout.derivedFields.isEmpty
    }
    for owner in receipt.owners {
      guard let object = registry.object(owner.number) else {
        notifyListeners { $0.noteConcurrent(owner, isRegistered: false) }
        continue
      }
      if object.base != nil { changed.append(object) }
    }
    guard !changed.isEmpty else { return }
    do throws(StoreError) {
      let snapshot = try engine.snapshot()
      defer { snapshot.close() }
      let scratch = SlabAllocator()
      for object in changed {
        guard let stored = try snapshot.record(object.number, allocator: scratch) else { continue }
        takeDerivedValues(of: object, from: stored)
      }
    } catch {
      for object in changed {
        noteReplaced(object)
        object.becomeFault()
      }
      note(error)
    }
  }

  private func takeDerivedValues(of object: ManagedObject, from stored: RecordView) {
    let layout = object.binding.entity.layout
    let held = object.currentRecord
    guard held.differsInDerivedFields(from: stored, in: layout) else { return }
    noteReplaced(object)
    var record = RecordBuffer(copying: held.bytes, into: allocator)
    for field in layout.derivedFields { record.copy(field, from: stored, allocator: allocator) }
    object.hold(record.view, record.slab)
  }
}
