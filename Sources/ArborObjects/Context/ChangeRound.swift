/// The objects that changed in a context within one round, each in one of the sets.
///
/// A round ends when somebody asks for it; what changed and changed back within one is not seen.
package struct ChangeRound {
  /// Inserted in the round and not deleted again.
  package var created: Set<ManagedObject> = []
  /// Changed in the round, in properties or in the members of relationships.
  package var updated: Set<ManagedObject> = []
  /// Deleted in the round, and inserted before it.
  package var deleted: Set<ManagedObject> = []

  /// A round without changes.
  package init() {}

  /// Whether nothing changed.
  package var isEmpty: Bool { created.isEmpty && updated.isEmpty && deleted.isEmpty }
}
