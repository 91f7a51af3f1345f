/// How far a scrub is.
package struct StoreScrubProgress: Sendable, Hashable {
  /// The parts that were read: the pages, then one database after the other.
  package let done: Int
  package let total: Int

  package typealias Reporter = @Sendable (StoreScrubProgress) -> Void
}
