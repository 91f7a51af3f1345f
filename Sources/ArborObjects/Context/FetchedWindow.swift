public import ArborModel

/// The results of a request, made into objects a batch at a time; see
/// ``ManagedObjectContext/fetchWindow(_:)``.
///
/// It belongs to its context, and keeps it. Reading an element never fails: where the store does,
/// the element is a fault, and the context's next throwing operation throws the reason. The same
/// holds for objects that were deleted since.
///
/// ```swift
/// let window = try context.fetchWindow(FetchRequest<Employee>(sortKeys: ["name"]))
/// for row in visibleRows { show(window[row]) }
/// ```
public struct FetchedWindow<T: ManagedObject>: RandomAccessCollection {
  private let storage: Storage

  init(_ context: ManagedObjectContext, _ numbers: [ObjectNumber], batchSize: Int) {
    storage = Storage(context, numbers, batchSize: batchSize)
  }

  /// 0.
  public var startIndex: Int { 0 }
  /// The number of results.
  public var endIndex: Int { storage.numbers.count }

  /// The object at an index. The first one of a batch that is asked for reads the batch.
  public subscript(position: Int) -> T { storage.object(at: position) }

  /// The ID of the object at an index, without making it.
  public func objectID(at position: Int) -> ObjectID {
    storage.context.session.objectID(storage.numbers[position])
  }

  private final class Storage {
    let context: ManagedObjectContext
    let numbers: [ObjectNumber]
    private let batchSize: Int
    /// The batches used last, the latest first; two, so that a loop over neighbours on both sides
    /// of a border does not read again and again.
    private var batches: [(number: Int, objects: [ManagedObject])] = []

    init(_ context: ManagedObjectContext, _ numbers: [ObjectNumber], batchSize: Int) {
      self.context = context
      self.numbers = numbers
      self.batchSize = batchSize
    }

    func object(at position: Int) -> T {
      precondition(
        numbers.indices.contains(position),
        "A window of \(numbers.count) results has no index \(position); ask within its indices.")
      let number = position / batchSize
      if let known = batches.firstIndex(where: { $0.number == number }) {
        if known > 0 { batches.swapAt(0, known) }
      } else {
        let start = number * batchSize
        let part = numbers[start..<Swift.min(start + batchSize, numbers.count)]
        batches.insert((number, faults(part)), at: 0)
        if batches.count > 2 { batches.removeLast() }
      }
      // The class of the entity, which all its objects have, was checked.
      return unsafeDowncast(batches[0].objects[position - number * batchSize], to: T.self)
    }

    /// The objects of numbers, read together where they can be; faults where they cannot.
    private func faults(_ numbers: ArraySlice<ObjectNumber>) -> [ManagedObject] {
      do throws(ArborError) { _ = try context.session.existingObjects(numbers) } catch {
        context.session.note(error)
      }
      return numbers.compactMap { context.session.fault($0) }
    }
  }
}
