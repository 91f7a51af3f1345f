internal import ArborModel
package import LMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// What a data file is opened with.
package typealias EngineOptions = EnvironmentOptions

extension EngineOptions {
  /// What the options of a store ask for.
  init(_ opening: StoreOpening) {
    self.init()
    isReadOnly = opening.isReadOnly
    isImmutable = opening.isImmutable
    verifiesPages = opening.checksEveryPage
    durability = opening.isDurable ? .full : .relaxed
    if let model = opening.model { additionalDatabases += model.mostDatabases }
    if let size = opening.initialMapSize { initialMapSize = size }
    if let size = opening.maximumMapSize { maximumMapSize = size }
  }

  /// The same for making a store, which is small: the lasting name gets the map that was asked for.
  var forCreation: EngineOptions {
    var options = self
    options.create = true
    options.durability = .full
    options.initialMapSize = min(initialMapSize, 1 << 26)
    return options
  }

  /// For a file that counts only once it is complete, and is synchronized then.
  static var unfinished: EngineOptions {
    var options = EngineOptions()
    options.create = true
    options.durability = .none
    return options
  }
}

extension ManagedObjectModel {
  /// No store has more databases for the entities, properties, and indexes of this model.
  fileprivate var mostDatabases: Int {
    var most = 0
    for entity in entities {
      most += 1 + entity.attributes.count + entity.relationships.count
      most += entity.fetchIndexes.count + entity.uniquenessConstraints.count
    }
    return most
  }
}

/// A file beside a data file, in which its successor is made; nobody takes it for a store.
struct EngineUnfinishedFile: ~Copyable {
  let base: UnfinishedFile

  init(beside path: String) throws(StoreError) {
    base = try storing(path: path, UnfinishedFile(beside: path))
  }

  var path: String { base.path }

  /// Removes what makers that died have left.
  static func removeAbandoned(beside path: String) { UnfinishedFile.removeAbandoned(beside: path) }
}

/// The folder of a data file.
enum EngineFolder {
  static func path(of file: String) -> String { Folder.path(of: file) }

  /// Waits until the folder's entries are on the medium.
  static func synchronize(of file: String) throws(StoreError) {
    do throws(EngineError) { try Folder.synchronize(of: file) } catch {
      throw StoreError.failed("fsync", Folder.path(of: file), errno: error.code ?? EIO)
    }
  }
}

/// Tells of changes of a data file, by this process and by others, until it is cancelled.
struct EngineWatch: Sendable {
  private let base: FileWatch

  init(path: String, _ notify: @escaping @Sendable () -> Void) {
    base = FileWatch(path: path, notify)
  }

  func cancel() { base.cancel() }
}
