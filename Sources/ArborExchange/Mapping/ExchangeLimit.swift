import ArborModel
import ArborObjects
import Synchronization

/// Stops an import, sync, seed or export early: if its task is cancelled, at a deadline, or if its
/// caller abandons it.
///
/// Every loop over items or objects counts its iterations here. Separate from the limit of the
/// context, which restarts with every fetch.
///
/// Belongs to the thread that does the work.
final class ExchangeLimit {
  /// The limit for document readers, which count parts of the text.
  let work: WorkLimit
  private let givenUp: CancellationFlag?

  /// - Parameters:
  ///   - deadline: The deadline, or `nil` for none.
  ///   - givenUp: A flag that cancels the work of a thread that doesn't run a task.
  init(until deadline: ContinuousClock.Instant?, givenUp: CancellationFlag? = nil) {
    work = WorkLimit(until: deadline)
    self.givenUp = givenUp
  }

  /// Creates a limit with the deadline of a context.
  convenience init(_ context: ManagedObjectContext) { self.init(until: context.deadline) }

  /// Counts an item or object.
  ///
  /// - Throws: ``ArborError`` `cancelled` or `deadlineExceeded`.
  @inline(__always)
  func check() throws(ArborError) {
    if !work.admit() || givenUp?.isSet == true { try stop() }
  }

  /// Checks the task and the clock immediately. Throws the same errors as ``check()``.
  func checkNow() throws(ArborError) {
    do throws(Interruption) { try work.checkNow() } catch { throw ArborError(error) }
    try check()
  }

  private func stop() throws(ArborError) { throw ArborError(work.interruption ?? .cancelled) }
}

/// A flag that is set when the caller no longer needs the result.
final class CancellationFlag: Sendable {
  private let flag = Atomic(false)

  var isSet: Bool { flag.load(ordering: .relaxed) }

  func set() { flag.store(true, ordering: .relaxed) }
}
