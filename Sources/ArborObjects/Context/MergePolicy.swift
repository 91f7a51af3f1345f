/// A policy for commits of objects that another context or process has committed since they were
/// read.
///
/// With ``error``, the commit throws and its caller decides (optimistic concurrency control). The
/// other policies resolve each conflict by a three-way merge, object by object, and continue.
///
/// Some changes are compatible under every policy. Members of many-to-many relationships are added
/// and removed one by one, so the changes of both sides are applied. An object deleted by both
/// sides is deleted.
///
/// Members of ordered relationships are added and removed one by one, too: no commit overwrites a
/// list changed by another. The order of the members is a property of the owner. If only one side
/// has moved members, its order is used. If both have, or both have added a member at different
/// positions, there is a conflict, which ``mergeByPropertyObjectWins`` and ``overwrite`` resolve in
/// favor of the context's order, ``mergeByPropertyStoreWins`` and ``rollback`` in favor of the
/// store's. A member that only one side has added keeps its position relative to a neighbor: one
/// added by the context is placed before the member that follows it in the context's list, one
/// added by another commit after the member that precedes it in that list. At the end of the list,
/// additions of other commits come before those of the context.
///
/// An object deleted by another commit cannot be linked to. New links to it are removed as soon as
/// the deletion is merged. Under ``error`` that is a conflict, until the relationship is set to
/// another value, the object that holds the link is refreshed, or everything is rolled back. The
/// other policies drop the links. Links that were to be removed are already gone. A new link from
/// another commit to an object deleted in the context counts as a change of that object and is
/// resolved by the policy. If an object deleted by another commit is restored, it keeps its
/// attributes and to-one relationships, but it is no longer a member of other objects' to-many
/// relationships.
///
/// An inserted object whose unique values already belong to another object of the same entity — in
/// the store, or inserted earlier in the same context — is merged into that object under every
/// policy except ``error``, which throws `notUnique`:
/// - Links to the inserted object and the members of its to-many relationships are transferred to
///   the other object, in ordered relationships at the end.
/// - Under ``mergeByPropertyObjectWins``, its attributes and to-one relationships replace those of
///   the other object, except those with the model's default values. Under ``overwrite``, all of
///   them do. Under ``mergeByPropertyStoreWins`` and ``rollback``, the other object keeps its own.
/// - The inserted instance is then in the state of a deleted object. It keeps its values and its
///   ``ManagedObject/objectID``, which was never in the store, and belongs to no context. An undo
///   does not restore it. Fetch the other object by its unique values, or access it through a
///   relationship.
///
/// Changing an existing object to a value that another object already has is always an error,
/// `notUnique`.
///
/// The policy of such insertions can be set for each entity; see
/// ``ManagedObjectContext/uniquenessPolicies``. ``ManagedObjectContext/mergedObjects`` lists the
/// merged objects.
public enum MergePolicy: Sendable {
  /// The commit throws ``ArborError`` `conflict` and changes nothing. All changes of the context
  /// are kept, including links to objects deleted by other commits.
  case error
  /// Properties changed in the context keep their values; the others are taken from the store. An
  /// object deleted in the store is restored. An object deleted in the context stays deleted.
  case mergeByPropertyObjectWins
  /// Properties changed in the store take the store's values; the others keep the context's. An
  /// object deleted in the store is deleted. An object changed in the store is not deleted.
  case mergeByPropertyStoreWins
  /// The context's objects are written as they are.
  case overwrite
  /// The context's changes of the conflicting objects are discarded.
  case rollback
  /// A closure resolves each conflict. It runs outside of any transaction.
  case custom(@Sendable (MergeConflict) -> MergeConflict.Resolution)
}

extension MergePolicy {
  /// Whether conflicts are resolved rather than thrown.
  var merges: Bool { if case .error = self { false } else { true } }
}
