public import ArborModel
internal import ArborStore

/// Numbers for the application: persistent, strictly increasing within a process, unique across
/// processes, and never given out twice — not after a crash, a rollback or a purge.
///
/// They are reserved in blocks, so that one costs nanoseconds; a block that was not used up is
/// skipped. The first of a new store is 1.
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

  /// The next number.
  ///
  /// - Throws: ``ArborError`` `closed` for a closed store; where a new block cannot be reserved,
  ///   the reason: the store is read-only or full.
  public func next() throws(ArborError) -> Int64 { try next(1).lowerBound }

  /// The next numbers, consecutive.
  ///
  /// - Precondition: `count` is positive.
  /// - Throws: ``ArborError`` as ``next()``.
  public func next(_ count: Int) throws(ArborError) -> Range<Int64> {
    guard count > 0 else {
      stopProgram("next(_:) was called for \(count) unique IDs. Request at least 1.")
    }
    if openState.isClosed { throw ArborError(StoreError.closed, in: engine) }
    return try engine.reporting(engine.takeUniqueIDs(count))
  }
}
