internal import ArborModel
internal import ArborStore
internal import ArborWork

/// What the workspace asks of its live objects.
extension ManagedObjectContext: WorkspaceHost {
  func shape(of number: ObjectNumber) -> EntityShape? { binding(of: number) }

  func makeObject(
    _ number: ObjectNumber, _ record: RecordView?, _ slab: RecordSlab?
  ) throws(StoreError) -> TrackedObject {
    try make(number, record, slab)
  }

  func objects(_ numbers: [ObjectNumber], of link: LinkSource) -> [TrackedObject] {
    let objects: [ManagedObject] = objects(numbers, of: link)
    return objects
  }

  func didLoad(_ object: TrackedObject) { object.live.awakeFromFetch() }

  func willDelete(_ object: TrackedObject) { object.live.prepareForDeletion() }

  func missing(_ object: TrackedObject) -> StoreError { .query(missing(object.live.objectID)) }
}

extension ManagedObjectContext {
  /// Runs `body`; where it throws, the pending changes are exactly what they were before.
  @discardableResult
  package func withSavepoint<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    try work.withSavepoint(body)
  }
}
