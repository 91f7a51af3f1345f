public import ArborModel
public import Observation

/// The result of a request, kept current as its context changes.
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
/// ``objects`` is at any time what a fetch in the context would give, uncommitted changes included,
/// up to commits of others that the context has not taken in yet; it does that at its next
/// operation, at ``ManagedObjectContext/mergeExternalCommits()``, and while somebody waits for the next of
/// the ``changes``. Objects that are deleted are never in it, and changes that are undone or rolled
/// back are changes like any other.
///
/// Code that follows ``changes``, reads ``objects`` or calls ``update()`` first takes in what the
/// context's changes have done to the result since the last time:
/// - changes of other entities, and of properties that neither the predicate nor the sort keys nor
///   the sections read, cost a look at a mask; results that changed so are told as updates;
/// - changes of single objects cost their number, not that of the results: the predicate is
///   evaluated for the changed objects alone, and the order is searched for their indices;
/// - the request is fetched again, and compared with what was there, where one object's change can
///   concern others: when an object was changed, inserted or deleted that a predicate over
///   relationships reads, in requests with a limit, an offset, a random or a present moment in
///   their predicate, or an order or sections that lead over relationships, and after commits
///   that are too large to be listed.
///
/// Results belong to their context, and to whatever runs it. They keep it alive.
///
/// ## Topics
/// - ``objects``
/// - ``sections``
/// - ``changes``
/// - ``update()``
public final class FetchedResults<T: ManagedObject> {
  /// What is kept current.
  public let request: FetchRequest<T>
  /// The key path whose equal values make a section; nil for none.
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
    // The class of the entity, which all its objects have, is checked.
    keeper = try ResultsKeeper(
      request.description, context.session.entity(for: request), sectionedBy: sectionKeyPath,
      in: context)
    keeper.announce = { [unowned self] in announce() }
  }

  deinit {
    keeper.announce = {}
    followers.bell.end()
  }

  /// The context whose changes are followed.
  public var context: ManagedObjectContext { keeper.context }

  /// The results, in their order.
  ///
  /// Observed through Swift's `Observation`, reading it is told of the next change that may concern
  /// them. Where the store cannot be read the results are as they were, and the context's next
  /// throwing operation throws the reason.
  ///
  /// - Complexity: Constant while nothing changes; after a change linear, once.
  public var objects: [T] {
    observe()
    catchUp()
    if let known { return known }
    let objects: [T] = keeper.arrangement.objects.typed()
    known = objects
    return objects
  }

  /// The number of the results.
  public var count: Int {
    observe()
    catchUp()
    return keeper.arrangement.count
  }

  /// One of the results. Nothing is copied.
  public subscript(index: Int) -> T {
    observe()
    catchUp()
    return unsafeDowncast(keeper.arrangement[index], to: T.self)
  }

  /// The sections in their order; one with all results, without a value, where there is no
  /// ``sectionKeyPath``. None of them is empty.
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

  /// Takes in what the context's changes have done to the results since they were last looked at.
  ///
  /// Nobody needs to call it to read current results. Each follower of ``changes`` gets the
  /// difference as well.
  ///
  /// - Returns: What changed; nil for nothing.
  /// - Throws: ``ArborError`` where the store cannot be read; the results are as they were.
  @discardableResult
  public func update() throws(ArborError) -> Difference? {
    guard let step = try keeper.update() else { return nil }
    known = nil
    let difference = Difference(step)
    followers.add(difference)
    return difference
  }

  var bell: AsyncSignal { followers.bell }

  /// Takes in what has changed; false where the store cannot be read.
  ///
  /// - Parameter takingIn: Whether the context takes in commits of others first.
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

  /// The differences between one state of the results and the next, from now on.
  ///
  /// What changes together, before the task of the sequence goes on, comes as one difference.
  /// Iterate it where the context is used: code that waits for the next difference is woken by
  /// commits of other contexts and processes too, and takes them in where it waits, unless
  /// ``ManagedObjectContext/automaticallyMergesCommits`` is off. It ends when its task is
  /// cancelled, and when the store is closed or cannot be read any more. Code that falls back by
  /// more than a hundred differences gets one in place of those that it missed, whose
  /// ``Difference/isComplete`` is false.
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

@available(*, unavailable, message: "Results stay with their context.")
extension FetchedResults: Sendable {}

extension FetchedResults {
  /// Results that follow one another and have the same value at ``FetchedResults/sectionKeyPath``.
  public struct Section {
    fileprivate let results: FetchedResults
    /// The value that the section's objects have in common; an object ID for a relationship.
    public let value: PropertyValue
    /// Where the section's objects lie in ``FetchedResults/objects``. Never empty.
    public let indices: Range<Int>

    /// The section's objects in their order.
    public var objects: ArraySlice<T> { results.objects[indices] }

    /// The number of the section's objects.
    public var count: Int { indices.count }
  }
}

extension ManagedObjectContext {
  /// Fetches a request's objects, to be kept current.
  ///
  /// ```swift
  /// let results = try context.fetchedResults(request, sectionedBy: "department")
  /// ```
  ///
  /// - Parameters:
  ///   - request: What to fetch.
  ///   - sectionKeyPath: The key path whose equal values make a section; nil for none. If the
  ///     request's first sort key is another one, the results are ordered by this path first.
  /// - Throws: ``ArborError`` as ``fetch(_:)``.
  public func fetchedResults<T: ManagedObject>(
    _ request: FetchRequest<T>, sectionedBy sectionKeyPath: String? = nil
  ) throws(ArborError) -> FetchedResults<T> {
    try FetchedResults(request, sectionedBy: sectionKeyPath, in: self)
  }
  /// Fetches a request's objects, to be kept current, in sections by a property.
  ///
  /// ```swift
  /// let results = try context.fetchedResults(request, sectionedBy: \.company)
  /// ```
  ///
  /// - Throws: ``ArborError`` as ``fetch(_:)``; `invalidPredicate` for a key path that isn't a path of
  ///   modelled properties.
  public func fetchedResults<T: ManagedObject>(
    _ request: FetchRequest<T>, sectionedBy sectionKeyPath: PartialKeyPath<T>
  ) throws(ArborError) -> FetchedResults<T> {
    try FetchedResults(request, sectionedBy: T.propertyPath(of: sectionKeyPath), in: self)
  }
}
