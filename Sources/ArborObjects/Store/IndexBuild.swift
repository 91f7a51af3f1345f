internal import ArborStore
public import ArborModel

/// An index that a migration has added and that does not have all of its entries yet.
///
/// ```swift
/// for build in try store.indexBuilds() { print(build) }
/// // Employee.byName: about 40000 of 100000 objects
/// ```
///
/// Every commit keeps the index, of each process. Fetches do not use it: they find the same objects
/// by other indexes or by looking at all of them, and use it from the moment on that it is ready.
/// A full-text search that needs it throws `notAllowed` until then.
public struct IndexBuild: Sendable {
  /// How far a build has come.
  public enum State: Sendable, Hashable {
    /// Objects are being added.
    case building
    /// All objects are in it, and commits keep it; it is not used, since its values are not unique,
    /// or nobody has seen yet that they are.
    case writeOnly
  }

  /// The name of the entity that declares the index.
  public let entity: String
  /// The index's name; that of the attribute for one that is marked `indexed`.
  public let index: String
  /// Whether no two objects in the index may have the same values. Of values that are committed
  /// meanwhile those are compared that are in the index by then; the others when all are.
  public let isUnique: Bool
  /// How far the build has come.
  public let state: State
  /// About how many objects are in the index.
  public let objectsDone: Int
  /// How many objects there are.
  public let objectCount: Int
  /// What ended the build in the background; nil while it goes on, and where nobody builds. It goes
  /// on when the store is opened again.
  public let problem: ArborError?

  /// The part that is done, from 0 to 1.
  public var fraction: Double { objectCount == 0 ? 1 : Double(objectsDone) / Double(objectCount) }

  init(_ status: IndexBuildStatus, problem: ArborError?) {
    entity = status.entity
    index = status.index
    isUnique = status.isUnique
    state = status.state == .building ? .building : .writeOnly
    objectsDone = status.objectsDone
    objectCount = status.objectCount
    self.problem = problem
  }
}

extension IndexBuild: CustomStringConvertible {
  /// The build on one line.
  public var description: String {
    switch state {
    case .building: "\(entity).\(index): about \(objectsDone) of \(objectCount) objects"
    case .writeOnly: "\(entity).\(index): all objects, uniqueness not yet verified"
    }
  }
}

extension PersistentStore {
  /// The indexes that do not have all of their entries yet, by entity and name; empty where all are
  /// ready.
  ///
  /// A migration that adds an index over more than 10,000 objects, or changes what it is made of,
  /// leaves it to be filled in batches, each in a transaction of its own:
  /// ``StoreOptions/indexBuilds`` says by whom. After a crash the next opening goes on.
  ///
  /// - Complexity: Some lookups for each of them, and none where all are ready.
  /// - Throws: ``ArborError`` `closed`, `modelChanged`, `inputOutput`, `corrupted`.
  public func indexBuilds() throws(ArborError) -> [IndexBuild] {
    let builds = try whileOpen(engine.indexBuilds())
    guard !builds.isEmpty else { return [] }
    let problem = engine.indexBuildFailure.map { ArborError($0, in: engine) }
    return builds.map { IndexBuild($0, problem: problem) }
  }
}
