public import ArborModel
internal import ArborStore

/// A cursor over the results of a request. See ``ManagedObjectContext/cursor(for:)`` for its memory
/// use and its behavior under concurrent changes.
///
/// A cursor retains its context and must be used where the context is used.
public final class FetchCursor<T: ManagedObject> {
  private enum Source {
    /// The remaining rows of a list.
    case listed(ArraySlice<ObjectNumber>)
    /// Rows are scanned from where the previous batch ended.
    case scanned
  }

  private let context: ManagedObjectContext
  private let description: FetchDescription
  private let query: StoreQuery
  private let paths: [[RelationshipSchema]]
  private var source: Source
  private var batch: ArraySlice<T> = []
  /// The sequence of the commit that the list was read from.
  private var listedSequence: UInt64

  // State for continuing a scan.
  private var continuation: RowContinuation?
  /// The number of rows left of the request's limit, or `nil` if it has no limit.
  private var room: Int?
  /// The rows of the most recent batch, and the sequence of the commit it was read from.
  private var met: (numbers: [ObjectNumber], sequence: UInt64) = ([], 0)
  /// Objects that were returned and have since moved ahead in the sort order.
  private var moved: Set<ObjectNumber> = []

  init(
    _ context: ManagedObjectContext, _ description: FetchDescription, _ query: StoreQuery,
    prefetching paths: [[RelationshipSchema]], listed numbers: [ObjectNumber]?,
    at sequence: UInt64
  ) {
    self.context = context
    self.description = description
    self.query = query
    self.paths = paths
    listedSequence = sequence
    source = numbers.map { .listed($0[...]) } ?? .scanned
    room = query.limit > 0 ? query.limit : nil
  }

  /// Returns the next object, or `nil` at the end.
  ///
  /// Objects that were deleted after the cursor was created, or that no longer match when their
  /// batch is read, are skipped. Only the first object of each batch accesses the store.
  ///
  /// - Throws: The same errors as ``ManagedObjectContext/fetch(_:)``.
  public func next() throws(ArborError) -> T? {
    try context.store.requireOpen()
    while true {
      while let object = batch.popFirst() {
        if !object.isDeleted { return object }
      }
      guard try readBatch() else { return nil }
    }
  }

  /// The number of rows that the cursor holds, whether as objects or as numbers.
  package var heldCount: Int {
    let listed = if case .listed(let numbers) = source { numbers.count } else { 0 }
    return listed + batch.count + met.numbers.count + moved.count
  }

  /// Reads the next batch. Returns `false` at the end.
  private func readBatch() throws(ArborError) -> Bool {
    try context.session.beginOperation()
    try context.session.limitOperation(to: description.allowance)
    guard case .listed(let numbers) = source else { return try scanOn() }
    guard !numbers.isEmpty else { return false }
    let part = numbers.prefix(description.batchSize)
    source = .listed(numbers.dropFirst(part.count))
    let objects = try context.session.onPinnedSnapshot { snapshot throws(ArborError) in
      let objects = try context.session.existingObjects(part, prefetching: paths)
      return try stillMatching(objects, on: snapshot)
    }
    // All objects of the entity have its class, which has been checked.
    batch = (objects.typed() as [T])[...]
    return true
  }

  /// Removes listed objects that no longer match because of later changes.
  private func stillMatching(
    _ objects: [ManagedObject], on snapshot: StoreSnapshot
  ) throws(ArborError) -> [ManagedObject] {
    let hasChanges = description.includesPendingChanges && context.session.hasEdits
    guard let predicate = description.predicate, snapshot.sequence != listedSequence || hasChanges
    else { return objects }
    var matching: [ManagedObject] = []
    for object in objects where try predicate.matches(object) { matching.append(object) }
    return matching
  }

  /// Scans the rows after the most recent batch. Returns `false` at the end.
  private func scanOn() throws(ArborError) -> Bool {
    let size = min(description.batchSize, room ?? .max)
    guard size > 0 else { return false }
    let part = query.part(limit: size, after: continuation)
    let overlay = context.session.overlay(for: description)
    let paths = paths
    var fetched = FetchedObjects()
    var objects: [ManagedObject] = []
    defer { fetched.awake() }
    let isScanned = try context.session.onSnapshot { snapshot throws(StoreError) -> Bool in
      try noteMoved(part, on: snapshot, overlay)
      guard
        var records = try snapshot.scan(
          part, overlay: overlay, allocator: context.session.allocator)
      else {
        source = .listed(
          try snapshot.fetchNumbers(
            query.part(limit: room ?? 0, after: continuation), overlay: overlay)[...])
        listedSequence = snapshot.sequence
        return false
      }
      met = (records.rows.map(\.number), snapshot.sequence)
      continuation = try met.numbers.last.flatMap { (last) throws(StoreError) in
        try snapshot.continuation(of: last, in: part, overlay: overlay)
      }
      if !moved.isEmpty { records.rows.removeAll { moved.contains($0.number) } }
      let isEnd = met.numbers.count < size || continuation == nil
      room = isEnd ? 0 : room.map { $0 - records.rows.count }
      objects = try context.session.materialise(records, on: snapshot, &fetched)
      for path in paths { try context.session.prefetch(path, of: objects, on: snapshot, &fetched) }
      return true
    }
    guard isScanned else { return try readBatch() }
    batch = (objects.typed() as [T])[...]
    return true
  }

  /// Records which rows of the last batch have since moved ahead in the sort order.
  private func noteMoved(
    _ part: StoreQuery, on snapshot: StoreSnapshot, _ overlay: (any PendingState)?
  ) throws(StoreError) {
    guard !query.sortKeys.isEmpty, !met.numbers.isEmpty else { return }
    let mayHaveMoved =
      met.sequence != snapshot.sequence
      || met.numbers.contains { context.session.pending.change(of: $0) != nil }
    guard mayHaveMoved else { return }
    moved.formUnion(try snapshot.numbers(met.numbers, behindContinuationOf: part, overlay: overlay))
  }
}
