import ArborLocks
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
  package init() {}
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

/// The parts of a document that an import left out, and the names that never occurred in it.
public struct ImportFindings: Sendable, Hashable {
  /// A value or an item that an import with ``ImportOptions/lenient`` left out.
  public struct Dropped: Sendable, Hashable {
    /// The entity of the item.
    public var entity: String?
    /// The property of the value; nil for a whole item.
    public var property: String?
    /// The place in the document.
    public var location: ArborError.SourceLocation?
    /// The reason, as the message of the error that it would be otherwise.
    public var reason: String

    init(_ error: ArborError) {
      entity = error.entity
      property = error.keyPath
      location = error.location
      reason = error.message
    }
  }

  /// The number of values and items that were left out.
  public var droppedCount = 0
  /// The first of them, at most ``maximumListed``.
  public var dropped: [Dropped] = []
  /// Names of the model that led nowhere in every item of a list: an `ImportName` or an
  /// `ImportReference` that is probably misspelled.
  public var warnings: [String] = []

  /// The number of places that are listed: each is counted in lines from the beginning of a batch.
  public static let maximumListed = 20

  /// No findings.
  package init() {}

  /// Adds what another part of an import has left out.
  mutating func addDropped(_ other: ImportFindings) {
    droppedCount += other.droppedCount
    dropped += other.dropped.prefix(Self.maximumListed - dropped.count)
  }
}

/// Receives the findings of imports.
///
/// ```swift
/// var options = ImportOptions()
/// options.lenient = true
/// options.report = ImportReport()
/// try context.importObjects(from: .data(data), as: "Employee", options: options)
/// print(options.report?.findings.droppedCount ?? 0)
/// ```
///
/// Safe on any thread. Several imports with one report add up.
public final class ImportReport: Sendable {
  private let state = Lock(ImportFindings())

  /// Creates a report without findings.
  public init() {}

  /// The findings of all imports so far.
  public var findings: ImportFindings { state.withLock { $0 } }

  func add(_ findings: ImportFindings) {
    state.withLock {
      $0.addDropped(findings)
      for warning in findings.warnings where !$0.warnings.contains(warning) {
        $0.warnings.append(warning)
      }
    }
  }
}

extension ImportReport: Hashable {
  /// Whether two are the same report.
  public static func == (left: ImportReport, right: ImportReport) -> Bool { left === right }

  /// Hashes the report's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Counts what a lenient import leaves out. Belongs to one batch.
final class ImportDrops {
  private(set) var findings = ImportFindings()

  /// Counts a value or an item, and lists it if it is among the first.
  ///
  /// - Parameter error: Returns the error that it would be otherwise; not called for the others,
  ///   since a place is counted from the beginning of its document.
  func add(_ error: () -> ArborError) {
    findings.droppedCount += 1
    guard findings.dropped.count < ImportFindings.maximumListed else { return }
    findings.dropped.append(ImportFindings.Dropped(error()))
  }
}

/// Names of the model that no item of an import has had: places of values, and what keys of
/// relationships are made of.
struct UnmetNames {
  /// A sentence for each name, in the order of entities and properties.
  let warnings: [String]
  /// The relationships of the outermost items whose `ImportReference` reads nothing that they have.
  let references: [MappedRelationship]

  init(_ mappings: [ExchangeMapping], ofItems outermost: ExchangeMapping) {
    references = outermost.relationships.filter { $0.reference?.isMet == false }
    let places = mappings.flatMap { mapping in
      mapping.scanner.unmetNames.sorted { $0.property < $1.property }.map { name in
        "No item has “\(name.key)”, which \(mapping.entity.name).\(name.property) is read from."
      }
    }
    let keys = references.sorted { $0.name < $1.name }.map { relationship in
      "No item has \(Self.list(relationship.reference?.names ?? [])), which the ImportReference of "
        + "\(relationship.entityName).\(relationship.name) reads."
    }
    warnings = places + keys
  }

  static func list(_ names: [String]) -> String {
    Set(names).sorted().map { "“\($0)”" }.joined(separator: ", ")
  }
}
