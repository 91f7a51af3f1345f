internal import ArborModel

/// An object whose record has been put together from what two contexts made of it, so that what it
/// leads to may not lead back.
struct LinkMending {
  /// Whose word counts where both ends say something else.
  enum Side {
    case session
    case store
    /// That of the object that has another partner by now: the object has come back.
    case others
  }

  let number: ObjectNumber
  /// What it led to before, by the slots of the relationships.
  let former: [(slot: Int, target: ObjectNumber)]
  let side: Side
}
