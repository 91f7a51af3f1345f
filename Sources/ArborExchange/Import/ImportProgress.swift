import ArborModel
import ArborObjects
import Foundation
import Synchronization

/// How far an import that commits has come.
public struct ImportStep: Sendable, Hashable {
  /// How much of the document has been read, in bytes.
  public var bytesRead = 0
  /// The size of the document in bytes, where it is known.
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

  /// Nothing done so far.
  public init() {}
}

/// The steps of an import, one for each commit; the last one says what it did altogether.
///
/// The import runs whether or not anybody looks. Whoever looks slower than it commits sees the
/// newest step. One iteration may be made; when it is given up before its end, the import stops
/// behind the batch under way.
///
/// ```swift
/// for try await step in store.importObjects(contentsOf: url, as: "Employee") {
///   print("\(step.items) items, \(step.bytesRead) bytes")
/// }
/// ```
public struct ImportProgress: AsyncSequence, Sendable {
  /// One step of the import.
  public typealias Element = ImportStep

  private let steps: AsyncThrowingStream<ImportStep, any Error>

  /// Starts work that reports its steps and asks whether to go on.
  package init(
    _ work:
      @escaping @Sendable (_ report: @escaping @Sendable (ImportStep) -> Bool) async throws -> Void
  ) {
    let isGivenUp = GiveUp()
    let (steps, continuation) = AsyncThrowingStream.makeStream(
      of: ImportStep.self, throwing: (any Error).self, bufferingPolicy: .bufferingNewest(1))
    self.steps = steps
    continuation.onTermination = { if case .cancelled = $0 { isGivenUp.set() } }
    Task {
      do {
        try await work { step in
          continuation.yield(step)
          return !isGivenUp.isSet
        }
        continuation.finish()
      } catch {
        continuation.finish(throwing: error)
      }
    }
  }

  /// Waits for the end of the import.
  ///
  /// - Returns: What it did altogether.
  /// - Throws: What the import throws.
  @discardableResult
  public func finish() async throws -> ImportStep {
    var last = ImportStep()
    for try await step in steps { last = step }
    return last
  }

  /// Goes from step to step.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var steps: AsyncThrowingStream<ImportStep, any Error>.AsyncIterator

    /// The next step; nil at the end.
    ///
    /// - Throws: What the import throws.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> ImportStep? {
      try await steps.next(isolation: actor)
    }
  }

  /// The one iteration over the steps.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(steps: steps.makeAsyncIterator())
  }
}

/// Set when nobody wants to know any more.
private final class GiveUp: Sendable {
  private let flag = Atomic(false)

  var isSet: Bool { flag.load(ordering: .relaxed) }

  func set() { flag.store(true, ordering: .relaxed) }
}
