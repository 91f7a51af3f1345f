/// What happens when a commit meets objects that another context or process has committed since
/// they were read.
///
/// ``error`` leaves the decision to the caller of `commit()`; the others decide object by object
/// and go on.
///
/// Some changes meet without a conflict, whatever the policy. Links to the members of many-to-many
/// relationships are added and removed one by one, so both contexts' count. What both have deleted
/// is gone.
///
/// Members of ordered relationships are added and removed one by one too: no commit writes a whole
/// list over what others have made of it. Their sequence is a property of the owner. Where the
/// context has moved members and others have not, it is the context's; where only others have, it
/// is theirs. Where both have, or both have added one at different places, that is a conflict: the
/// sequence is the context's under ``mergeByPropertyObjectWins`` and ``overwrite``, the store's
/// under ``mergeByPropertyStoreWins`` and ``rollback``. Whom only one of the two has added stands
/// by its neighbours: an addition of the context before the member that it precedes in the
/// context's list, one of others behind the member that it follows in theirs. At the end of the
/// list come the additions of others, then those of the context.
///
/// What others have deleted is linked to nothing: new links to it are dropped as soon as its
/// deletion is taken in. Under ``error`` that is a conflict, until the relationship is set to
/// something else, the object at the other end is refreshed, or everything is rolled back; the
/// other policies let the links go. Links that were to be removed have gone, as was wanted. A new
/// link of others to what is deleted here is a change of that, and goes by the policy. An object
/// that others have deleted comes back with its attributes and to-one relationships; the deletion
/// has taken it out of the to-many relationships of all others.
///
/// An object that is inserted with unique values which another has already — in the store, or
/// inserted before it in the same context — is merged into that one, of the same entity, under
/// every policy but ``error``, which throws `notUnique`:
/// - links that lead to the inserted object, and the members of its to-many relationships, go to
///   the other one, in ordered relationships at the end;
/// - its attributes, and what its to-one relationships lead to, replace the other's under
///   ``mergeByPropertyObjectWins`` where they are not the model's defaults, under ``overwrite``
///   always; under ``mergeByPropertyStoreWins`` and ``rollback`` the other keeps its own;
/// - the inserted instance is then what a deleted one is: it keeps its values and its
///   ``ManagedObject/objectID``, which was never in the store, it belongs to no context, and an
///   undo
///   does not bring it back. Fetch the other by its unique values, or reach it by a relationship.
///
/// An object that is not new and takes a value that another has stays a mistake: `notUnique`.
public enum MergePolicy: Sendable {
  /// The commit throws ``ArborError`` `conflict` and changes nothing; no change of the context is
  /// lost, nor a link to what others have deleted.
  case error
  /// Each property that was changed in the context keeps its value; the others take the store's. An
  /// object deleted in the store comes back, one deleted in the context stays deleted.
  case mergeByPropertyObjectWins
  /// Each property that was changed in the store takes the store's value; the others keep the
  /// context's. What is deleted in the store is gone, what is changed there is not deleted.
  case mergeByPropertyStoreWins
  /// The context's objects are written as they are.
  case overwrite
  /// The context's changes of the objects in conflict are forgotten.
  case rollback
  /// A function decides each conflict. It runs outside of any transaction.
  case custom(@Sendable (MergeConflict) -> MergeConflict.Resolution)
}
