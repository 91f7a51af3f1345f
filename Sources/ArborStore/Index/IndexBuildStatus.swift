/// How far an index is filled that is not ready yet.
package struct IndexBuildStatus: Sendable, Hashable {
  /// The entity that declares the index.
  package let entity: String
  package let index: String
  package let isUnique: Bool
  package let state: IndexBuildList.State
  /// How many objects are in it, estimated from the part of its entries that is written.
  package let objectsDone: Int
  package let objectCount: Int
}
