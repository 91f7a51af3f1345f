internal import ArborModel

/// An access path that conditions open, before the keys for it are made: only the access paths that
/// are tried need them.
struct AccessOption {
  enum Kind {
    case objects(ColumnMatch)
    /// An index, and the conditions on its leading columns.
    case index(IndexReference, [ColumnMatch])
    /// An index of words, and which of the conjuncts names words.
    case words(IndexReference, Int)
    /// A to-one relationship, by its slot.
    case members(Int, ColumnMatch)
  }

  let kind: Kind
  /// Access paths with a lower rank find fewer rows, as a rule, and are tried first; of those with
  /// the same rank the ones with the shorter keys.
  let rank: (Int, Int)
}
