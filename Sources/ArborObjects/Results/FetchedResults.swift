public import ArborModel
public import Observation

/// The results of a request, kept up to date with the changes of its context.
///
/// ```swift
/// let request = FetchRequest<Employee>(predicate: "age > \(40)", sortKeys: ["name"])
/// let results = try context.fetchedResults(request, sectionedBy: "company")
/// for section in results.sections { … }
/// for await difference in results.changes {
///   for deletion in difference.deletions { table.removeRow(deletion.index) }
///   …
/// }
/// ```
///
/// ``objects`` always contains what a fetch in the context would return, including uncommitted
/// changes, unless the request excludes them, but excluding commits that the context has not merged
/// yet. It merges them at its next operation, with ``ManagedObjectContext/mergeExternalCommits()``,
/// and while code waits for the next element of ``changes``. Deleted objects are never included.
/// Undoing or rolling back changes is treated like any other change.
///
/// Waiting for ``changes``, reading ``objects`` or calling ``update()`` first updates the results
/// with the changes made in the context since the last time:
/// - Changes of other entities, and of properties not used by the predicate, sort keys or sections,
///   only cost the comparison of a bit mask. Affected results are reported as updated.
/// - The cost of changes of individual objects depends on their number, not on the number of
///   results: the predicate is evaluated only for the changed objects, and their positions are
///   found by binary search.
/// - The request is fetched again and compared with the previous results if one object's change can
///   affect others: if an object that is used by a predicate over relationships was changed,
///   inserted or deleted; for requests with a limit or offset, with random values or the current
///   time in the predicate, or with sort keys or sections over relationships; and after commits
///   that are too large to be listed.
///
/// Results belong to their context and must be used where it is used. They retain it.
///
/// ## Topics
/// - ``objects``
/// - ``sections``
/// - ``changes``
/// - ``update()``
public final class FetchedResults<T: ManagedObject> {
  /// The request.
  public let request: FetchRequest<T>
  /// The key path by which results are grouped into sections, or `nil` for none.
  public let sectionKeyPath: String?
  private let keeper: ResultsKeeper
  private var known: [T]?
  private let followers = ResultsFollowers<T>()
  private let registrar = ObservationRegistrar()
  private var isObserved = false

  init(
    _ request: FetchRequest<T>, sectionedBy sectionKeyPath: String?,
    in context: ManagedObjectContext
  ) throws(ArborError) {
    self.request = request
    self.sectionKeyPath = sectionKeyPath
    // All objects of the entity have its class, which is checked.
    keeper = try ResultsKeeper(
      request.description, context.session.entity(for: request), sectionedBy: sectionKeyPath,
      in: context)
    keeper.announce = { [unowned self] in announce() }
  }

  deinit {
    keeper.announce = {}
    followers.bell.end()
  }

  /// The context whose changes are observed.
  public var context: ManagedObjectContext { keeper.context }

  /// The results, in sort order.
  ///
  /// Access is tracked by Swift's `Observation`, which reports the next change that may affect the
  /// results. If the store cannot be read, the results remain unchanged, and the context's next
  /// throwing operation throws the error.
  ///
  /// - Complexity: Constant without changes. Linear on the first access after a change.
  public var objects: [T] {
    observe()
    catchUp()
    if let known { return known }
    let objects: [T] = keeper.arrangement.objects.typed()
    known = objects
    return objects
  }

  /// The number of results.
  public var count: Int {
    observe()
    catchUp()
    return keeper.arrangement.count
  }

  /// The result at an index. Doesn't copy the results.
  public subscript(index: Int) -> T {
    observe()
    catchUp()
    return unsafeDowncast(keeper.arrangement[index], to: T.self)
  }

  /// The sections in order. Sections are never empty. Without a ``sectionKeyPath``, there is one
  /// section with all results and no value, or none if there are no results.
  ///
  /// - Complexity: Linear in the number of sections.
  public var sections: [Section] {
    observe()
    catchUp()
    let count = keeper.arrangement.count
    guard sectionKeyPath != nil else {
      return count == 0 ? [] : [Section(results: self, value: .null, indices: 0..<count)]
    }
    var sections: [Section] = []
    var start = 0
    for run in keeper.runs {
      let value = keeper.value(of: run, first: keeper.arrangement[start])
      sections.append(Section(results: self, value: value, indices: start..<start + run.count))
      start += run.count
    }
    return sections
  }

  /// Updates the results with the changes made in the context since the last time.
  ///
  /// Reading results does this automatically. The difference is also delivered to consumers of
  /// ``changes``.
  ///
  /// - Returns: The difference, or `nil` if nothing changed.
  /// - Throws: ``ArborError`` if the store cannot be read. The results remain unchanged.
  @discardableResult
  public func update() throws(ArborError) -> Difference? {
    guard let step = try keeper.update() else { return nil }
    known = nil
    let difference = Difference(step)
    followers.add(difference)
    return difference
  }

  var bell: AsyncSignal { followers.bell }

  /// Updates the results. Returns `false` if the store cannot be read.
  ///
  /// - Parameter takingIn: Whether the context merges other commits first.
  @discardableResult
  func catchUp(takingIn: Bool = false) -> Bool {
    do throws(ArborError) {
      if takingIn { try context.session.mergeNewestCommits(always: false) }
      try update()
      return true
    } catch {
      keeper.context.session.note(error)
      return false
    }
  }

  // MARK: Following

  /// The differences between consecutive states of the results, from now on.
  ///
  /// All changes made before the consuming task resumes are combined into one difference. Iterate
  /// the sequence where the context is used. Waiting consumers are also woken by commits of other
  /// contexts and processes, and merge them into the context, unless
  /// ``ManagedObjectContext/automaticallyMergesCommits`` is off. The sequence ends when its task is
  /// cancelled, and when the store is closed or cannot be read. A consumer that falls behind by
  /// more than 100 differences receives a single one, whose ``Difference/isComplete`` is `false`,
  /// instead of those it missed.
  public var changes: Changes {
    Changes(results: self, follower: followers.begin(in: context.store))
  }

  private func announce() {
    followers.bell.ring()
    guard isObserved else { return }
    isObserved = false
    registrar.willSet(self, keyPath: \.objects)
    registrar.didSet(self, keyPath: \.objects)
  }

  private func observe() {
    isObserved = true
    registrar.access(self, keyPath: \.objects)
  }
}

extension FetchedResults: Observable {}

@available(*, unavailable, message: "Results belong to their context. Pass objectIDs instead.")
extension FetchedResults: Sendable {}

extension FetchedResults {
  /// Consecutive results with the same value for ``FetchedResults/sectionKeyPath``.
  public struct Section {
    fileprivate let results: FetchedResults
    /// The common value of the section's objects. An object ID for a relationship.
    public let value: PropertyValue
    /// The indices of the section's objects in ``FetchedResults/objects``. Never empty.
    public let indices: Range<Int>

    /// The section's objects, in order.
    public var objects: ArraySlice<T> { results.objects[indices] }

    /// The number of objects in the section.
    public var count: Int { indices.count }
  }
}

extension ManagedObjectContext {
  /// Fetches the objects of a request as results that are kept up to date.
  ///
  /// ```swift
  /// let results = try context.fetchedResults(request, sectionedBy: "department")
  /// ```
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - sectionKeyPath: The key path by which results are grouped into sections, or `nil` for
  ///     none. If it isn't the request's first sort key, the results are sorted by it first.
  /// - Throws: The same errors as ``fetch(_:)``.
  public func fetchedResults<T: ManagedObject>(
    _ request: FetchRequest<T>, sectionedBy sectionKeyPath: String? = nil
  ) throws(ArborError) -> FetchedResults<T> {
    try FetchedResults(request, sectionedBy: sectionKeyPath, in: self)
  }

  /// Fetches the objects of a request as results that are kept up to date, in sections by a
  /// property.
  ///
  /// ```swift
  /// let results = try context.fetchedResults(request, sectionedBy: \.company)
  /// ```
  ///
  /// - Throws: The same errors as ``fetch(_:)``; `invalidPredicate` if the key path isn't a path of
  ///   modeled properties.
  public func fetchedResults<T: ManagedObject>(
    _ request: FetchRequest<T>, sectionedBy sectionKeyPath: PartialKeyPath<T>
  ) throws(ArborError) -> FetchedResults<T> {
    try FetchedResults(request, sectionedBy: T.propertyPath(of: sectionKeyPath), in: self)
  }
}
