public import ArborModel
internal import ArborStore

/// Unique numbers for the application. They are persistent, strictly increasing within a process,
/// unique across processes, and never reused, even after a crash, rollback or purge.
///
/// They are reserved in blocks, so obtaining one takes nanoseconds. The unused rest of a block is
/// skipped. The first number of a new store is 1.
///
/// ```swift
/// let invoice = try store.uniqueIDs.next()
/// ```
public final class UniqueIDs: Sendable {
  private let engine: StoreEngine
  private let openState: OpenState

  init(_ engine: StoreEngine, _ openState: OpenState) {
    self.engine = engine
    self.openState = openState
  }

  /// Returns the next number.
  ///
  /// - Throws: ``ArborError`` `closed` if the store is closed; another error if a new block cannot
  ///   be reserved, for example because the store is read-only or the disk is full.
  public func next() throws(ArborError) -> Int64 { try next(1).lowerBound }

  /// Returns the next `count` consecutive numbers.
  ///
  /// - Throws: The same errors as ``next()``.
  /// - Precondition: `count` is positive.
  public func next(_ count: Int) throws(ArborError) -> Range<Int64> {
    guard count > 0 else {
      stopProgram("next(_:) was called for \(count) unique IDs. Request at least 1.")
    }
    if openState.isClosed { throw ArborError(StoreError.closed, in: engine) }
    return try engine.reporting(engine.takeUniqueIDs(count))
  }
}
