package import ArborModel

/// An object whose record has been put together from what two contexts made of it, so that what it
/// leads to may not lead back.
package struct LinkMending {
  /// Whose word counts where both ends say something else.
  package enum Side {
    case work
    case store
    /// That of the object that has another partner by now: the object has come back.
    case others
  }

  package let number: ObjectNumber
  /// What it led to before, by the slots of the relationships.
  package let former: [(slot: Int, target: ObjectNumber)]
  package let side: Side
}
