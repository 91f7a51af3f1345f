package import ArborFoundation
package import ArborModel
internal import ArborStore

extension PersistentStore {
  /// Creates a store that appears at its path only after `fill` has populated it. If the process is
  /// killed earlier, there is no file at the path.
  ///
  /// - Throws: Any error thrown by `fill`; ``ArborError`` `inputOutput` if the path already exists,
  ///   and the errors of opening. No file is created in that case.
  package static func make<R>(
    _ model: ManagedObjectModel, at url: URL, _ fill: (PersistentStore) throws -> R
  ) throws -> R {
    var result: Result<R, any Error>?
    let path = try StoreLocation.path(of: url)
    do throws(StoreError) {
      try StoreCreation.create(at: path, model) { (temporary) throws(StoreError) in
        let filled = Result {
          var options = StoreOptions()
          options.compactsWhenClosed = false
          let store = try PersistentStore(at: .path(temporary), options: options)
          defer { store.close() }
          return try fill(store)
        }
        result = filled
        // Discards the file.
        if case .failure = filled { throw .closed }
      }
    } catch {
      if case .failure(let reason)? = result { throw reason }
      throw ArborError(opening: error)
    }
    guard let result else { throw ArborError(opening: .closed) }
    return try result.get()
  }
}
