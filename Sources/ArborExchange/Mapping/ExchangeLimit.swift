import ArborModel
import ArborObjects
import Synchronization

/// Ends an import, a sync, a seed or an export before it is done: if its task is cancelled, at a
/// deadline, or if its caller abandons it.
///
/// Whatever loops over items or objects counts each of them here. A limit of its own beside that of
/// the context, which starts over with every fetch.
///
/// Belongs to the thread that does the work.
final class ExchangeLimit {
  /// For readers of documents, which count the parts of a text.
  let work: WorkLimit
  private let givenUp: CancellationFlag?

  /// - Parameters:
  ///   - deadline: When the work has to be done; nil for as long as it takes.
  ///   - givenUp: Tells a thread without a task of a cancellation.
  init(until deadline: ContinuousClock.Instant?, givenUp: CancellationFlag? = nil) {
    work = WorkLimit(until: deadline)
    self.givenUp = givenUp
  }

  /// The limit of work in a context.
  convenience init(_ context: ManagedObjectContext) { self.init(until: context.deadline) }

  /// Counts an item or an object.
  ///
  /// - Throws: ``ArborError`` `cancelled` or `deadlineExceeded`.
  @inline(__always)
  func check() throws(ArborError) {
    if !work.admit() || givenUp?.isSet == true { try stop() }
  }

  /// Looks at task and clock at once; throws as ``check()``.
  func checkNow() throws(ArborError) {
    do throws(Interruption) { try work.checkNow() } catch { throw ArborError(error) }
    try check()
  }

  private func stop() throws(ArborError) { throw ArborError(work.interruption ?? .cancelled) }
}

/// Set when the caller no longer wants the result.
final class CancellationFlag: Sendable {
  private let flag = Atomic(false)

  var isSet: Bool { flag.load(ordering: .relaxed) }

  func set() { flag.store(true, ordering: .relaxed) }
}
