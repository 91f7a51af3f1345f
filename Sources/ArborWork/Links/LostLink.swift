package import ArborModel

/// A link that was made here and has gone, since others have deleted one of its ends.
///
/// It is left out of all relationships at once, so that nobody stumbles over an object that is not
/// there. Under ``MergePolicy/error`` it stays a change which a commit cannot write.
package struct LostLink: Hashable {
  /// The end that is still there.
  package let owner: ObjectNumber
  /// The owner's relationship.
  package let slot: Int
  /// The end that has been deleted.
  package let target: ObjectNumber
}
