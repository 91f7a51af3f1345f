package import ArborModel

extension StoreEngine {
  /// Whether large binaries of an entity can lie outside of its records: not in a file of an
  /// earlier format that was opened for reading only.
  package func keepsBlobs(of entity: EntitySchema) -> Bool {
    databases.blobs(entity.index) != nil
  }
}
