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
///   found by searching a tree.
/// - A change of an object to which a path of the predicate, the sort keys or the sections leads,
///   such as the folder of `folder.name`, is applied in the same way to the objects that refer to
///   it. They are found through the inverse relationships.
/// - The request is fetched again and compared with the previous results if one object's change can
///   affect others that cannot be found in this way: if the predicate reads collections,
///   subqueries or aggregates and one of their objects was changed; for requests with a limit or
///   offset, or with random values or the current time; and after commits that are too large to be
///   listed. ``explain()`` says whether and why a request is fetched again.
///
/// Results belong to their context and must be used where it is used. They retain it.
///
/// ## Topics
/// - ``objects``
/// - ``sections``
/// - ``changes``
/// - ``update()``
/// - ``explain()``
public final class FetchedResults<T: ManagedObject> {
  /// The request.
  public let request: FetchRequest<T>
  /// The key path by which results are grouped into sections, or `nil` for none.
  public let sectionKeyPath: String?
  private let keeper: ResultsKeeper
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
  /// - Complexity: Constant, apart from applying changes.
  public var objects: Objects {
    observe()
    catchUp()
    return Objects(keeper.arrangement)
  }

  /// The number of results.
  public var count: Int {
    observe()
    catchUp()
    return keeper.arrangement.count
  }

  /// The result at an index.
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
    let objects = objects
    guard sectionKeyPath != nil else {
      return objects.isEmpty ? [] : [Section(value: .null, indices: objects.indices, in: objects)]
    }
    let starts = objects.arrangement.sectionStarts
    let ends = starts.dropFirst() + [objects.count]
    return zip(starts, ends).map { start, end in
      Section(
        value: keeper.sectionValue(at: start, in: objects.arrangement), indices: start..<end,
        in: objects)
    }
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
    let difference = Difference(step)
    followers.add(difference)
    return difference
  }

  /// Describes how changes are applied to the results: one by one, or by fetching again and why.
  ///
  /// ```
  /// Changes of Note are applied one by one.
  /// Changes of Folder are applied to the objects that refer to them by folder.
  /// ```
  public func explain() -> String { keeper.shape.explanation }

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
  /// The results at one time, in sort order.
  ///
  /// A value that stays as it is when the results change, although its objects may change or be
  /// deleted. Use `Array(results.objects)` where an array is required.
  ///
  /// - Complexity: Copies take constant time, access to an element takes logarithmic time.
  public struct Objects: RandomAccessCollection, Equatable {
    let arrangement: Arrangement

    init(_ arrangement: Arrangement) { self.arrangement = arrangement }

    /// 0.
    public var startIndex: Int { 0 }

    /// The number of objects.
    public var endIndex: Int { arrangement.count }

    /// The object at an index.
    public subscript(index: Int) -> T { unsafeDowncast(arrangement[index], to: T.self) }

    /// Returns an iterator over the objects.
    public func makeIterator() -> Iterator { Iterator(arrangement) }

    /// Returns whether two collections consist of the same objects in the same order.
    public static func == (left: Self, right: Self) -> Bool {
      left.arrangement.root === right.arrangement.root || left.elementsEqual(right)
    }

    /// Iterates over results leaf by leaf.
    public struct Iterator: IteratorProtocol {
      private let arrangement: Arrangement
      private var leaf: ContiguousArray<ManagedObject> = []
      private var offset = 0
      /// The index of the first object after the leaf.
      private var end = 0

      init(_ arrangement: Arrangement) { self.arrangement = arrangement }

      /// Returns the next object, or `nil` if there isn't one.
      public mutating func next() -> T? {
        if offset == leaf.count {
          guard end < arrangement.count else { return nil }
          leaf = arrangement.place(of: end).leaf.objects
          offset = 0
          end += leaf.count
        }
        defer { offset += 1 }
        return unsafeDowncast(leaf[offset], to: T.self)
      }
    }
  }

  /// Consecutive results with the same value for ``FetchedResults/sectionKeyPath``.
  ///
  /// A value that stays as it is when the results change.
  public struct Section {
    /// The common value of the section's objects. An object ID for a relationship.
    public let value: PropertyValue
    /// The indices of the section's objects in the ``FetchedResults/objects`` at that time. Never
    /// empty.
    public let indices: Range<Int>
    private let all: Objects

    init(value: PropertyValue, indices: Range<Int>, in all: Objects) {
      self.value = value
      self.indices = indices
      self.all = all
    }

    /// The section's objects, in order.
    public var objects: Slice<Objects> { all[indices] }

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
