import ArborFoundation
import ArborLocks
public import ArborModel
import ArborObjects

/// The progress of an import that commits.
public struct ImportStep: Sendable, Hashable {
  /// The number of bytes read from the document.
  public var bytesRead = 0
  /// The size of the document in bytes, if known.
  public var totalBytes: Int?
  /// The number of items imported and committed.
  public var items = 0
  /// The number of inserted objects.
  public var inserted = 0
  /// The number of existing objects with changed properties.
  public var updated = 0
  /// The number of existing objects that already matched their items.
  public var unchanged = 0
  /// The number of objects deleted under the merge policy `Replace`.
  public var deleted = 0
  /// The skipped values and items and, in the last step, names that were never found.
  public var findings = ImportFindings()

  /// Creates a step at the start of an import.
  package init() {}
}

/// The steps of an import, one for each commit. The last one contains the totals.
///
/// The import runs even if the sequence isn't iterated. A consumer slower than the commits receives
/// only the newest step. The sequence can be iterated once. If the iterator is released before the
/// end or its task is cancelled, the import stops within milliseconds, and earlier batches remain
/// committed.
///
/// ```swift
/// for try await step in store.importObjects(from: .file(url), as: "Employee") {
///   print("\(step.items) items, \(step.bytesRead) bytes")
/// }
/// ```
public struct ImportProgress: AsyncSequence, Sendable {
  /// A step of the import.
  public typealias Element = ImportStep

  private let steps: AsyncThrowingStream<ImportStep, any Error>
  /// A flag that is set when the import has completed.
  private let hasEnded = CancellationFlag()

  /// Starts a closure that reports its steps and asks whether to continue.
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
  /// - Returns: The last step, with the totals.
  /// - Throws: Any error from the import.
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

  /// An iterator over the steps.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var steps: AsyncThrowingStream<ImportStep, any Error>.AsyncIterator
    fileprivate let hasEnded: CancellationFlag
    private var hasThrown = false

    fileprivate init(
      steps: AsyncThrowingStream<ImportStep, any Error>.AsyncIterator, hasEnded: CancellationFlag
    ) {
      (self.steps, self.hasEnded) = (steps, hasEnded)
    }

    /// Returns the next step, or `nil` at the end.
    ///
    /// - Throws: Any error from the import; ``ArborError`` `cancelled` if the iterating task is
    ///   cancelled before the end of the import.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(ArborError) -> ImportStep? {
      let step: ImportStep?
      do {
        step = try await steps.next(isolation: actor)
      } catch {
        hasThrown = true
        throw ArborError(byModel: error)
      }
      // The stream ends without an error if its consumer is cancelled.
      if step == nil, !hasEnded.isSet, !hasThrown {
        hasThrown = true
        throw ArborError(Interruption.cancelled)
      }
      return step
    }
  }

  /// Returns the iterator. The sequence can be iterated only once.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(steps: steps.makeAsyncIterator(), hasEnded: hasEnded)
  }
}

/// The values and items skipped by an import, and names that never occurred in the document.
public struct ImportFindings: Sendable, Hashable {
  /// A value or item skipped by an import with ``ImportOptions/lenient``.
  public struct Dropped: Sendable, Hashable {
    /// The name of the item's entity, or `nil` if it is unknown.
    public var entity: String?
    /// The property of the value or of the broken rule, or `nil` for a whole item.
    public var property: String?
    /// The location in the document, or `nil` if it is unknown.
    public var location: ArborError.SourceLocation?
    /// The reason, as the message of the error that a strict import would throw.
    public var reason: String

    init(_ error: ArborError) {
      entity = error.entity
      property = error.keyPath
      location = error.location
      reason = error.message
    }
  }

  /// The number of skipped values and items.
  public var droppedCount = 0
  /// The first skipped values and items, at most ``maximumListed``.
  public var dropped: [Dropped] = []
  /// The names in the model that were not found in any item of a list: an `ImportName` or
  /// `ImportReference` that is probably misspelled.
  public var warnings: [String] = []

  /// The maximum number of listed values and items. Limited because determining a location requires
  /// counting lines from the beginning of a batch.
  public static let maximumListed = 20

  /// Creates empty findings.
  package init() {}

  /// Adds the skipped values and items of another part of an import.
  mutating func addDropped(_ other: ImportFindings) {
    droppedCount += other.droppedCount
    dropped += other.dropped.prefix(Self.maximumListed - dropped.count)
  }
}

/// An object that collects the findings of imports.
///
/// ```swift
/// var options = ImportOptions()
/// options.lenient = true
/// options.report = ImportReport()
/// try context.importObjects(from: .data(data), as: "Employee", options: options)
/// print(options.report?.findings.droppedCount ?? 0)
/// ```
///
/// Can be used on any thread. The findings of several imports are added up.
public final class ImportReport: Sendable {
  private let state = Lock(ImportFindings())

  /// Creates an empty report.
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
  /// Returns whether two references refer to the same report.
  public static func == (left: ImportReport, right: ImportReport) -> Bool { left === right }

  /// Hashes the report's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Counts the values and items that a lenient import skips. Belongs to one batch.
final class ImportDrops {
  private(set) var findings = ImportFindings()

  /// Counts a skipped value or item, and lists it if it is among the first.
  ///
  /// - Parameter error: A closure that returns the error that a strict import would throw. Called
  ///   only if the value is listed, because determining its location is expensive.
  func add(_ error: () -> ArborError) {
    findings.droppedCount += 1
    guard findings.dropped.count < ImportFindings.maximumListed else { return }
    findings.dropped.append(ImportFindings.Dropped(error()))
  }
}

/// The names in the model that were not found in any item of an import: paths of values, and
/// components of relationship keys.
struct UnmetNames {
  /// A sentence for each name, in the order of entities and properties.
  let warnings: [String]
  /// The relationships of the outermost items whose `ImportReference` was never found.
  let references: [MappedRelationship]

  init(_ mappings: [ExchangeMapping], ofItems outermost: ExchangeMapping) {
    // Outermost items may have chosen subentities.
    let family = mappings.filter { $0.listedEntity === outermost.entity }
    let relationships = (family.isEmpty ? [outermost] : family).flatMap(\.relationships)
    let met = Set(relationships.filter { $0.reference?.isMet == true }.map(\.name))
    var named: Set<String> = []
    references = relationships.filter {
      $0.reference?.isMet == false && !met.contains($0.name) && named.insert($0.name).inserted
    }
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
