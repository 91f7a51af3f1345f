import ArborModel
import ArborObjects

/// The objects of one entity, by the values of the attributes that identify them.
///
/// Keys are wanted first, then looked up together in one fetch, which sees the context's pending
/// changes. Objects that are made meanwhile are noted.
final class IdentityTable {
  let entity: ExchangeEntity
  let attributes: [ExchangeAttribute]
  /// What bounds the search; nil: nothing.
  let scope: FetchPredicate?
  private var wanted: Set<IdentityKey> = []
  /// By the keys that have been looked up; empty where nothing was found.
  private var found: [IdentityKey: [ManagedObject]] = [:]

  init(_ entity: ExchangeEntity, _ attributes: [ExchangeAttribute], within scope: FetchPredicate?) {
    self.entity = entity
    self.attributes = attributes
    self.scope = scope
  }

  /// Asks for the objects of a key at the next fetch.
  func want(_ key: IdentityKey) {
    if found[key] == nil { wanted.insert(key) }
  }

  /// Looks up all keys that were asked for since the last time, in one fetch.
  func fetch(in context: ManagedObjectContext) throws(ArborError) {
    guard !wanted.isEmpty else { return }
    for key in wanted { found[key] = [] }
    let request = FetchRequest<ManagedObject>(entity: entity.name, predicate: try predicate())
    wanted = []
    // Of several attributes' values the condition lets other combinations through: keys that
    // nobody asked for.
    for object in try context.fetch(request) {
      guard let key = try key(of: object) else { continue }
      found[key]?.append(object)
    }
  }

  /// The objects of a key that was wanted before the last fetch, deleted ones left out.
  func objects(for key: IdentityKey) -> [ManagedObject] {
    guard let objects = found[key], !objects.isEmpty else { return [] }
    return objects.filter { !$0.isDeleted }
  }

  /// Enters an object that has come by its key since the key was looked up.
  func note(_ object: ManagedObject) throws(ArborError) {
    guard let key = try key(of: object), let known = found[key], !known.contains(object) else {
      return
    }
    if let scope, try !scope.matches(object) { return }
    found[key]?.append(object)
  }

  /// The key that an object has now; nil where a value is null.
  func key(of object: ManagedObject) throws(ArborError) -> IdentityKey? {
    if attributes.count == 1 {
      let value = try object.value(forKey: attributes[0].name)
      return value.isNull ? nil : .one(value)
    }
    var values: [Value] = []
    for attribute in attributes { values.append(try object.value(forKey: attribute.name)) }
    return IdentityKey(values)
  }

  private func predicate() throws(ArborError) -> FetchPredicate? {
    var condition = scope
    for (place, attribute) in attributes.enumerated() {
      let values = Set(wanted.map { $0.values[place] })
      let isOneOf = try FetchPredicate(
        format: "%K IN %@", attribute.name, Value.list(Array(values)))
      condition = condition.map { $0 && isOneOf } ?? isOneOf
    }
    return condition
  }
}
