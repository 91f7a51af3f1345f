import ArborModel
import ArborObjects

/// The objects of one entity, by the values of the attributes that identify them.
///
/// Keys are wanted first, then looked up together in one fetch, which sees the context's pending
/// changes. Objects that are made meanwhile are noted. A key that was wanted has a place, by which
/// its objects are found without hashing it again.
final class IdentityTable {
  let entity: ExchangeEntity
  let attributes: [ExchangeAttribute]
  /// What bounds the search; nil: nothing.
  let scope: FetchPredicate?
  private let context: ManagedObjectContext
  /// All keys that were ever wanted, and where they stand.
  private var keys: [IdentityKey] = []
  private var numbers: [Int64: Int] = [:]
  private var others: [IdentityKey: Int] = [:]
  /// For each key that has been looked up its first object.
  private var found: [ManagedObject?] = []
  /// Further objects of a key.
  private var further: [Int: [ManagedObject]] = [:]

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
  /// - Returns: The key's place, and whether nobody has asked for it before.
  @discardableResult
  func want(_ key: IdentityKey) -> (place: Int, isNew: Bool) {
    let next = keys.count
    let place: Int
    if case .number(let number) = key {
      place = numbers.place(of: number, orEnter: next)
    } else {
      place = others.place(of: key, orEnter: next)
    }
    if place == next { keys.append(key) }
    return (place, place == next)
  }

  /// Makes room for keys.
  func reserve(_ count: Int) {
    keys.reserveCapacity(keys.count + count)
    numbers.reserveCapacity(numbers.count + count)
  }

  /// The key at a place.
  func key(at place: Int) -> IdentityKey { keys[place] }

  private func place(of key: IdentityKey) -> Int? {
    if case .number(let number) = key { numbers[number] } else { others[key] }
  }

  /// Looks up all keys that were asked for since the last time, in one fetch.
  func fetch() throws(ArborError) {
    guard found.count < keys.count else { return }
    let objects = try wantedObjects()
    found.append(contentsOf: repeatElement(nil, count: keys.count - found.count))
    // Of several attributes' values the condition lets other combinations through: keys that
    // nobody asked for.
    for object in objects {
      if let key = try key(of: object), let place = place(of: key) { enter(object, at: place) }
    }
  }

  /// The objects that may have the keys that were asked for since the last time.
  private func wantedObjects() throws(ArborError) -> [ManagedObject] {
    if scope == nil, attributes.count == 1, let numbers = Self.numbers(keys[found.count...]) {
      let place = try attributes[0].place(in: context)
      let objects = try context.objects(of: entity.name, withUnique: numbers, at: place)
      if let objects { return objects }
    }
    return try context.fetch(
      FetchRequest<ManagedObject>(entity: entity.name, predicate: try predicate()))
  }

  /// The first object of a key, deleted ones left out. The key was wanted before the last fetch.
  func first(at place: Int) -> ManagedObject? {
    guard let object = found[place] else { return nil }
    return object.isDeleted ? further[place]?.first { !$0.isDeleted } : object
  }

  /// The object of a key where there is exactly one and it is not deleted.
  func only(at place: Int) -> ManagedObject? {
    guard further.isEmpty, let object = found[place], !object.isDeleted else { return nil }
    return object
  }

  /// The objects of a key that was wanted before the last fetch, deleted ones left out.
  func objects(at place: Int) -> [ManagedObject] {
    guard let first = found[place] else { return [] }
    guard !further.isEmpty, let others = further[place] else {
      return first.isDeleted ? [] : [first]
    }
    return ([first] + others).filter { !$0.isDeleted }
  }

  /// The objects of a key; none where it was not wanted before the last fetch.
  func objects(for key: IdentityKey) -> [ManagedObject] {
    guard let place = place(of: key), place < found.count else { return [] }
    return objects(at: place)
  }

  /// Enters an object that has come by its key since the key was looked up.
  ///
  /// - Parameter guess: The place of the key that the object probably has.
  func note(_ object: ManagedObject, guess: Int? = nil) throws(ArborError) {
    guard let key = try key(of: object) else { return }
    let place = guess.flatMap { keys[$0] == key ? $0 : nil } ?? place(of: key)
    guard let place, place < found.count else { return }
    if let scope, try !scope.matches(object) { return }
    enter(object, at: place)
  }

  private func enter(_ object: ManagedObject, at place: Int) {
    guard let known = found[place] else {
      found[place] = object
      return
    }
    if known !== object, further[place]?.contains(object) != true {
      further[place, default: []].append(object)
    }
  }

  /// The key that an object has now; nil where a value is null.
  private func key(of object: ManagedObject) throws(ArborError) -> IdentityKey? {
    if attributes.count == 1 {
      return IdentityKey(object.value(at: try attributes[0].place(in: context)))
    }
    var key: [Value] = []
    for attribute in attributes { key.append(object.value(at: try attribute.place(in: context))) }
    return IdentityKey(key)
  }

  private func predicate() throws(ArborError) -> FetchPredicate? {
    let wanted = keys[found.count...]
    var condition = scope
    for (place, attribute) in attributes.enumerated() {
      let isOneOf = try FetchPredicate(
        format: "%K IN %@", attribute.name, Value.list(Self.values(wanted, at: place)))
      condition = condition.map { $0 && isOneOf } ?? isOneOf
    }
    return condition
  }

  /// The values of the keys' attribute at a place, each once; numbers in order, for the index.
  private static func values(_ keys: ArraySlice<IdentityKey>, at place: Int) -> [Value] {
    if let numbers = numbers(keys) { return numbers.map(Value.integer) }
    return Array(Set(keys.map { $0[place] }))
  }

  /// Keys that are all whole numbers, in order; nil where one is none.
  private static func numbers(_ keys: ArraySlice<IdentityKey>) -> [Int64]? {
    var numbers: [Int64] = []
    numbers.reserveCapacity(keys.count)
    for key in keys {
      guard case .number(let number) = key else { return nil }
      numbers.append(number)
    }
    return numbers.sorted()
  }
}

extension Dictionary where Value == Int {
  /// The place of a key, which is entered at the next one where it has none.
  fileprivate mutating func place(of key: Key, orEnter next: Int) -> Int {
    var place = next
    func enter(_ present: inout Int) {
      if present < 0 { present = next }
      place = present
    }
    enter(&self[key, default: -1])
    return place
  }
}
