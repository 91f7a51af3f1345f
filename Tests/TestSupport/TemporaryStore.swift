package import ArborModel
package import ArborStore

/// A store in a temporary folder or in memory that is checked when its test ends.
///
/// ```swift
/// try TemporaryStore.use(model) { store in
///   try store.file.commit(changes)
/// }
/// ```
package final class TemporaryStore {
  package let folder: TemporaryFolder
  package private(set) var file: StoreEngine
  private let opening: StoreOpening

  /// Thrown if the store check has findings.
  package struct Unsound: Error, CustomStringConvertible {
    package let report: StoreCheckReport
    package var description: String { "The store is unsound:\n\(report)" }
  }

  private init(_ model: ManagedObjectModel, inMemory: Bool, _ adjust: (inout StoreOpening) -> Void)
    throws
  {
    folder = try TemporaryFolder()
    var opening = StoreOpening(
      inMemory ? .inMemory : .file(folder.path("test.arbor")), model: model)
    adjust(&opening)
    self.opening = opening
    file = try StoreEngine.open(opening)
  }

  /// Opens a new store, runs `body`, checks the store and removes it.
  package static func use<R>(
    _ model: ManagedObjectModel, inMemory: Bool = false,
    opening adjust: (inout StoreOpening) -> Void = { _ in },
    _ body: (TemporaryStore) throws -> R
  ) throws -> R {
    let store = try TemporaryStore(model, inMemory: inMemory, adjust)
    defer { store.file.close() }
    let result = try body(store)
    try store.check()
    return result
  }

  package var path: String { folder.path("test.arbor") }

  /// Checks and closes the store and opens it again.
  package func reopen() throws {
    try check()
    file.close()
    file = try StoreEngine.open(opening)
  }

  /// Throws ``Unsound`` if the store check has findings.
  package func check() throws { try Self.check(file) }

  /// Checks a store's file that is closed or open in this process.
  package static func check(path: String) throws {
    var opening = StoreOpening(.file(path), model: nil)
    opening.isReadOnly = true
    let file = try StoreEngine.open(opening)
    defer { file.close() }
    try check(file)
  }

  private static func check(_ file: StoreEngine) throws {
    let report = try file.check()
    if !report.isSound { throw Unsound(report: report) }
  }
}
