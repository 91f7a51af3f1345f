public import ArborModel

/// A cursor over the results of a request; see ``ManagedObjectContext/cursor(for:)``.
///
/// It belongs to its context, and keeps it.
public final class FetchCursor<T: ManagedObject> {
  enum Source {
    /// What is left of the rows.
    case numbers(ArraySlice<ObjectNumber>)
    /// The request for what is left.
    case pages(FetchRequest<T>)
  }

  private let context: ManagedObjectContext
  private let batchSize: Int
  private let paths: [String]
  private var source: Source
  private var batch: ArraySlice<T> = []

  init(_ context: ManagedObjectContext, _ source: Source, _ request: FetchRequest<T>) {
    self.context = context
    self.source = source
    batchSize = request.description.batchSize
    paths = request.relationshipKeyPathsForPrefetching
  }

  /// The next object; nil at the end. Objects that were deleted since the cursor was made are
  /// passed over.
  ///
  /// - Throws: ``ArborError`` as ``ManagedObjectContext/fetch(_:)``.
  public func next() throws(ArborError) -> T? {
    while batch.isEmpty {
      guard try readBatch() else { return nil }
    }
    return batch.popFirst()
  }

  /// Reads more objects; false at the end.
  private func readBatch() throws(ArborError) -> Bool {
    switch source {
    case .numbers(let numbers):
      guard !numbers.isEmpty else { return false }
      let part = numbers.prefix(batchSize)
      source = .numbers(numbers.dropFirst(part.count))
      try context.beginOperation()
      // The class of the entity, which all its objects have, was checked.
      let objects = try context.existingObjects(part).map { unsafeDowncast($0, to: T.self) }
      batch = objects[...]
    case .pages(let request):
      let page = try context.fetchPage(request)
      batch = page.objects[...]
      source = page.next.map { .pages(request.page(after: $0)) } ?? .numbers([])
    }
    return true
  }
}
