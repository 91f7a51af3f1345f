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
  private let context: ManagedObjectContext
  private lazy var places = Result { () throws(ArborError) in
    var places: [PropertyPlace] = []
    for attribute in attributes {
      places.append(try context.place(of: attribute.name, in: entity.name))
    }
    return places
  }
  private var wanted: Set<IdentityKey> = []
  /// By the keys that have been looked up; nil where nothing was found.
  private var found: [IdentityKey: ManagedObject?] = [:]
  /// Further objects of one key.
  private var others: [IdentityKey: [ManagedObject]] = [:]

  init(
    _ entity: ExchangeEntity, _ attributes: [ExchangeAttribute], within scope: FetchPredicate?,
    in context: ManagedObjectContext
  ) {
    self.entity = entity
    self.attributes = attributes
    self.scope = scope
    self.context = context
  }

  /// Asks for the objects of a key at the next fetch.
  ///
  /// - Returns: Whether nobody has asked for them before.
  @discardableResult
  func want(_ key: IdentityKey) -> Bool {
    (found.isEmpty || found[key] == nil) && wanted.insert(key).inserted
  }

  /// Looks up all keys that were asked for since the last time, in one fetch.
  func fetch() throws(ArborError) {
    guard !wanted.isEmpty else { return }
    let request = FetchRequest<ManagedObject>(entity: entity.name, predicate: try predicate())
    found.reserveCapacity(found.count + wanted.count)
    for key in wanted { found.updateValue(nil, forKey: key) }
    wanted = []
    // Of several attributes' values the condition lets other combinations through: keys that
    // nobody asked for.
    for object in try context.fetch(request) {
      if let key = try key(of: object) { enter(object, key) }
    }
  }

  /// The first object of a key that was wanted before the last fetch, deleted ones left out.
  func first(for key: IdentityKey) -> ManagedObject? {
    guard let object = found[key] ?? nil else { return nil }
    return object.isDeleted ? others[key]?.first { !$0.isDeleted } : object
  }

  /// The object of a key where there is exactly one and it is not deleted.
  func only(for key: IdentityKey) -> ManagedObject? {
    guard others.isEmpty, let object = found[key] ?? nil, !object.isDeleted else { return nil }
    return object
  }

  /// The objects of a key that was wanted before the last fetch, deleted ones left out.
  func objects(for key: IdentityKey) -> [ManagedObject] {
    guard let first = found[key] ?? nil else { return [] }
    guard !others.isEmpty, let others = others[key] else { return first.isDeleted ? [] : [first] }
    return ([first] + others).filter { !$0.isDeleted }
  }

  /// Enters an object that has come by its key since the key was looked up.
  func note(_ object: ManagedObject) throws(ArborError) {
    guard let key = try key(of: object), found[key] != nil else { return }
    if let scope, try !scope.matches(object) { return }
    enter(object, key)
  }

  private func enter(_ object: ManagedObject, _ key: IdentityKey) {
    guard let place = found.index(forKey: key) else { return }
    guard let known = found.values[place] else {
      found.values[place] = object
      return
    }
    if known !== object, others[key]?.contains(object) != true {
      others[key, default: []].append(object)
    }
  }

  /// The key that an object has now; nil where a value is null.
  func key(of object: ManagedObject) throws(ArborError) -> IdentityKey? {
    let places = try places.get()
    if places.count == 1 { return IdentityKey(object.value(at: places[0])) }
    return IdentityKey(places.map { object.value(at: $0) })
  }

  private func predicate() throws(ArborError) -> FetchPredicate? {
    var condition = scope
    for (place, attribute) in attributes.enumerated() {
      var values = wanted.map { $0[place] }
      if attributes.count > 1 { values = Array(Set(values)) }
      let isOneOf = try FetchPredicate(format: "%K IN %@", attribute.name, Value.list(values))
      condition = condition.map { $0 && isOneOf } ?? isOneOf
    }
    return condition
  }
}
