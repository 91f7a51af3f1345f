internal import ArborModel
internal import ArborStore
internal import ArborWork
internal import Foundation

/// What the workspace asks of its live objects.
extension ObjectReader: WorkspaceHost {
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

  func unstoredBlob(_ name: BlobName) -> Data? { context.blobs.unstored(name) }

  func missing(_ object: TrackedObject) -> StoreError { .query(.missing(object.live.objectID)) }
}
