/// Ends counting as soon as it is certain that there are too many rows, or that finding out costs
/// too much.
struct CountBound {
  /// How many rows may come yet.
  var most: Int
  /// What finding them may cost yet, in units of ``Cost``.
  var effort: Int

  /// Takes a look for a key.
  @inline(__always)
  mutating func look() { effort -= Cost.seek }

  /// Takes a step to a key that is left out; returns whether counting goes on.
  @inline(__always)
  mutating func allowsStep() -> Bool {
    effort -= Cost.key
    return effort >= 0
  }

  /// Takes a key with so many rows; returns whether counting goes on.
  @inline(__always)
  mutating func allows(key count: Int) -> Bool {
    effort -= Cost.key
    return allows(count)
  }

  /// Takes so many rows; returns whether counting goes on.
  @inline(__always)
  mutating func allows(_ count: Int) -> Bool {
    effort -= count / 8
    most -= count
    return most >= 0 && effort >= 0
  }
}
