import ArborModel
import ArborObjects
import ArborStore
import Foundation
import LMDB

/// The file that a verb reads, opened read-only.
struct InspectedFile {
  let path: String
  let environment: Environment
  /// The store in the file, if it is one and can be opened; otherwise ``problem`` contains the
  /// reason.
  let store: StoreEngine?
  let problem: (any Error)?

  /// Opens a file, or the `data.mdb` in a folder.
  ///
  /// - Parameters:
  ///   - isImmutable: Whether to read without the lock file, which then need not be writable.
  ///   - clearsStaleReaders: Whether to free the slots of dead readers.
  init(path given: String, isImmutable: Bool, clearsStaleReaders: Bool = true) throws {
    var options = EnvironmentOptions()
    options.isReadOnly = true
    options.clearsStaleReaders = clearsStaleReaders
    options.isImmutable = isImmutable
    var path = given
    if let folder = Self.folder(of: given) {
      options.isFolder = true
      path = folder
    }
    environment = try Environment.open(path: path, options: options)
    self.path = environment.path
    guard try Self.isStore(environment) else {
      store = nil
      problem = nil
      return
    }
    do {
      var opening = StoreOpening(.file(environment.path), model: nil)
      opening.isReadOnly = true
      store = try StoreEngine.open(opening)
      problem = nil
    } catch {
      store = nil
      problem = error
    }
  }

  /// Whether the file belongs to another program.
  var isForeign: Bool { store == nil && problem == nil }

  /// Runs `body`, which reads the file. Errors include its path.
  func reading<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch {
      throw InspectError(ToolWording.publicError(error, in: store), on: path)
    }
  }

  /// Returns the store, for verbs that need its model.
  func requireStore() throws -> StoreEngine {
    if let store { return store }
    if let problem { throw problem }
    throw InspectError.unreadable(
      "\(path) is an LMDB file, but not an ArborData store: it has no model. Use “tables”, “dump” "
        + "and “get”.")
  }

  /// Opens the store read-only with the library's public interface. The caller has to close it.
  func openStore() throws -> PersistentStore {
    _ = try requireStore()
    return try PersistentStore(at: .path(path), options: StoreOptions(isReadOnly: true))
  }

  func entity(_ name: String) throws -> EntitySchema {
    let store = try requireStore()
    if let entity = store.schema.entity(named: name) { return entity }
    throw InspectError.unknownEntity(name, among: store.schema.entities.map(\.name))
  }

  /// Returns the database with the given name, either the stored one or the current one of the
  /// model. The empty name is that of the unnamed database.
  ///
  /// - Parameter mayBeEntity: Whether the name may have been meant as that of an entity.
  func database(_ name: String, mayBeEntity: Bool = false) throws -> Database {
    if name.isEmpty { return try environment.mainDatabase() }
    if let database = try environment.openDatabase(name) { return database }
    let present = try store.map { try StoreDatabases.presentNames($0.schema) } ?? [:]
    if let stored = present.first(where: { $0.value == name })?.key,
      let database = try environment.openDatabase(stored)
    {
      return database
    }
    // The databases of an entity have a slash in their names.
    if mayBeEntity, let store, !name.contains("/") {
      throw InspectError.unknownEntity(name, among: store.schema.entities.map(\.name))
    }
    let names = try environment.databaseNames() + present.values
    let nearest = NearestName.of(name, in: names).map { " Did you mean “\($0)”?" } ?? ""
    throw InspectError.notFound(
      "There is no table “\(name)” in \(path).\(nearest) “tables” lists them all.")
  }

  /// Returns the folder with LMDB's own file layout, or `nil` if the path is a single file.
  private static func folder(of path: String) -> String? {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return nil }
    if isFolder.boolValue { return path }
    let url = URL(filePath: path)
    let lock = url.deletingLastPathComponent().appending(path: "lock.mdb").path
    guard url.lastPathComponent == "data.mdb", FileManager.default.fileExists(atPath: lock) else {
      return nil
    }
    return url.deletingLastPathComponent().path
  }

  private static func isStore(_ environment: Environment) throws -> Bool {
    guard let database = try environment.openDatabase("arbor") else { return false }
    // The header identifies a store.
    return try environment.read { transaction in
      try Array("header".utf8).withUnsafeBytes {
        try transaction.reader.get(database, key: $0) != nil
      }
    }
  }
}
