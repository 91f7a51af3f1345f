import ArborModel
import ArborObjects

/// A small graph of named objects in one context, which two contexts change concurrently.
protocol ConcurrentWorld<Deed> {
  /// A change by one of the contexts.
  associatedtype Deed

  var context: ManagedObjectContext { get }
  var objects: [String: ManagedObject] { get set }

  /// Returns the same graph in another context, without any objects yet.
  func inContext(_ context: ManagedObjectContext) -> Self

  /// Creates and commits the initial objects. Returns their names.
  mutating func fill() throws -> [ObjectID: String]

  /// Performs `deed`, which sets numbers to `number`.
  func perform(_ deed: Deed, number: Int64) throws

  /// Returns a description of the state. Throws if two ends of a link disagree.
  func state(_ names: [ObjectID: String]) throws -> String
}

extension ConcurrentWorld {
  func object(_ name: String) throws -> ManagedObject {
    guard let object = objects[name] else { throw Interruption() }
    return object
  }

  /// Returns the state after another context has committed `theirs` and this one `mine`, or
  /// "conflict". Throws if either context differs from the store.
  func outcome(
    _ mine: Deed, after theirs: Deed, _ policy: MergePolicy, in store: PersistentStore
  ) throws -> String {
    var (here, there) = (self, inContext(store.makeContext()))
    here.context.mergePolicy = policy
    let names = try here.fill()
    for (id, name) in names { there.objects[name] = try there.context.existingObject(with: id) }
    try here.perform(mine, number: 2)
    try there.perform(theirs, number: 3)
    try there.context.commit()
    let committed = try there.state(names)
    do throws(ArborError) { try here.context.commit() } catch {
      guard error.code == .conflict, here.context.hasChanges else { throw error }
      here.context.rollback()
      guard try here.state(names) == committed else {
        throw Mismatch(description: "rolled back: \(try here.state(names)), not \(committed)")
      }
      return "conflict"
    }
    let outcome = try inContext(store.makeContext()).state(names)
    guard try here.state(names) == outcome, try there.state(names) == outcome,
      !here.context.hasChanges
    else {
      let states = try [here, there].map { try $0.state(names) }
      throw Mismatch(description: "\(outcome) is seen as \(states)")
    }
    return outcome
  }
}
