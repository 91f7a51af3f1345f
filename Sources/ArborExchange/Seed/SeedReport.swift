public import ArborModel
public import ArborObjects
public import Foundation

/// What a seed has done.
///
/// Holds objects, so it stays with the thread of their context; ``objectIDs`` may leave it.
public struct SeedReport {
  /// The number of objects created, by the name of their entity.
  public var created: [String: Int] = [:]
  /// The documents in the order in which they were read; one that was linked twice stands twice.
  public var documents: [URL] = []
  /// The objects that the top documents create, directly and through `seedlings` and `seeds`, in
  /// order; objects within relationships are not among them.
  public var objects: [ManagedObject] = []

  /// The identities of ``objects``.
  public var objectIDs: [ObjectID] { objects.map(\.objectID) }

  /// The number of all objects created.
  public var count: Int { created.values.reduce(0, +) }
}
