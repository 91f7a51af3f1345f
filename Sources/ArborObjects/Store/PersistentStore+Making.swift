package import ArborModel
internal import ArborStore
package import Foundation

extension PersistentStore {
  /// Makes a store that has its path only once `fill` has filled it: until then nothing is at the
  /// path, and after a kill neither.
  ///
  /// - Throws: What `fill` throws; ``ArborError`` `inputOutput` if the path is taken, and as an
  ///   opening does. Nothing is left then.
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
        // The file is not kept.
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
