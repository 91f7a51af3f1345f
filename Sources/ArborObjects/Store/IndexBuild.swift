internal import ArborStore
public import ArborModel

/// An index added by a migration that isn't fully populated yet.
///
/// ```swift
/// for build in try store.indexBuilds() { print(build) }
/// // Employee.byName: about 40000 of 100000 objects
/// ```
///
/// All commits, of every process, maintain the index. Fetches don't use it until it is ready: they
/// find the same objects through other indexes or by scanning all objects. A full-text search that
/// needs it throws `notAllowed` until then.
public struct IndexBuild: Sendable {
  /// The state of an index build.
  public enum State: Sendable, Hashable {
    /// Objects are being added.
    case building
    /// The index contains all objects and is maintained by commits, but isn't used, because its
    /// values are not unique or their uniqueness hasn't been verified yet.
    case writeOnly
  }

  /// The name of the entity that declares the index.
  public let entity: String
  /// The index's name, or the attribute's name if the index exists because an attribute is marked
  /// `indexed`.
  public let index: String
  /// A Boolean value that indicates whether the values must be unique. Values committed during the
  /// build are checked against the objects that are in the index by then; the rest is checked when
  /// the build is complete.
  public let isUnique: Bool
  /// The state of the build.
  public let state: State
  /// The approximate number of objects in the index.
  public let objectsDone: Int
  /// The total number of objects.
  public let objectCount: Int
  /// The error that stopped the background build, or `nil` if none occurred. The build resumes the
  /// next time the store is opened.
  public let problem: ArborError?

  /// The completed fraction, from 0 to 1.
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
  /// A one-line description of the build.
  public var description: String {
    switch state {
    case .building: "\(entity).\(index): about \(objectsDone) of \(objectCount) objects"
    case .writeOnly: "\(entity).\(index): all objects, uniqueness not yet verified"
    }
  }
}

extension PersistentStore {
  /// Returns the indexes that aren't fully populated yet, sorted by entity and name. Empty if all
  /// are ready.
  ///
  /// A migration that adds or redefines an index over more than 10,000 objects leaves it to be
  /// built in batches, each in its own transaction, at a time determined by
  /// ``StoreOptions/indexBuilds``. After a crash, the build resumes at the next opening.
  ///
  /// - Throws: ``ArborError`` `closed`, `modelChanged`, `inputOutput`, `corrupted`.
  /// - Complexity: A few lookups for each such index. Constant if all are ready.
  public func indexBuilds() throws(ArborError) -> [IndexBuild] {
    let builds = try whileOpen(engine.indexBuilds())
    guard !builds.isEmpty else { return [] }
    let problem = engine.indexBuildFailure.map { ArborError($0, in: engine) }
    return builds.map { IndexBuild($0, problem: problem) }
  }
}
