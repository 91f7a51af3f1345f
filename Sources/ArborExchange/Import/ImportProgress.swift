public import ArborModel
import ArborObjects
import Foundation

/// How far an import that commits has come.
public struct ImportStep: Sendable, Hashable {
  /// How much of the document has been read, in bytes.
  public var bytesRead = 0
  /// The size of the document in bytes, if it is known.
  public var totalBytes: Int?
  /// The number of items imported and committed.
  public var items = 0
  /// The number of objects made.
  public var inserted = 0
  /// The number of known objects of which a property changed.
  public var updated = 0
  /// The number of known objects that were as their items have them.
  public var unchanged = 0
  /// The number of objects deleted by a `MergePolicy` of Replace.
  public var deleted = 0
  /// What was left out, and at the last step what was never found.
  public var findings = ImportFindings()

  /// Nothing done so far.
  public init() {}
}

/// The steps of an import, one for each commit; the last one says what it did altogether.
///
/// The import runs whether or not anybody looks. Code that looks slower than it commits sees the
/// newest step. One iteration may be made; when it is given up before its end, or its task is
/// cancelled, the import stops within milliseconds and leaves what was committed before.
///
/// ```swift
/// for try await step in store.importObjects(from: .file(url), as: "Employee") {
///   print("\(step.items) items, \(step.bytesRead) bytes")
/// }
/// ```
public struct ImportProgress: AsyncSequence, Sendable {
  /// One step of the import.
  public typealias Element = ImportStep

  private let steps: AsyncThrowingStream<ImportStep, any Error>
  /// Set when the import has ended by itself.
  private let hasEnded = CancellationFlag()

  /// Starts work that reports its steps and asks whether to go on.
  package init(
    _ work:
      @escaping @Sendable (_ report: @escaping @Sendable (ImportStep) -> Bool) async throws -> Void
  ) {
    let isGivenUp = CancellationFlag()
    let (steps, continuation) = AsyncThrowingStream.makeStream(
      of: ImportStep.self, throwing: (any Error).self, bufferingPolicy: .bufferingNewest(1))
    self.steps = steps
    let hasEnded = hasEnded
    let task = Task {
      do {
        try await work { step in
          continuation.yield(step)
          return !isGivenUp.isSet
        }
        hasEnded.set()
        continuation.finish()
      } catch {
        hasEnded.set()
        continuation.finish(throwing: error)
      }
    }
    continuation.onTermination = { termination in
      guard case .cancelled = termination else { return }
      isGivenUp.set()
      task.cancel()
    }
  }

  /// Waits for the end of the import.
  ///
  /// - Returns: What it did altogether.
  /// - Throws: What the import throws.
  @discardableResult
  public func finish() async throws(ArborError) -> ImportStep {
    var last = ImportStep()
    do {
      for try await step in steps { last = step }
    } catch {
      throw ArborError(byModel: error)
    }
    return last
  }

  /// Goes from step to step.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var steps: AsyncThrowingStream<ImportStep, any Error>.AsyncIterator
    fileprivate let hasEnded: CancellationFlag

    /// The next step; nil at the end.
    ///
    /// - Throws: What the import throws; ``ArborError`` `cancelled` where the task that iterates is
    ///   cancelled before the import has ended.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(ArborError) -> ImportStep? {
      let step: ImportStep?
      do {
        step = try await steps.next(isolation: actor)
      } catch {
        throw ArborError(byModel: error)
      }
      // A stream ends without an error if its reader is cancelled.
      if step == nil, !hasEnded.isSet { throw ArborError(Interruption.cancelled) }
      return step
    }
  }

  /// The one iteration over the steps.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(steps: steps.makeAsyncIterator(), hasEnded: hasEnded)
  }
}
