import ArborModel
import ArborObjects

/// The values of the attributes that identify an object.
///
/// Values are those that the attributes keep, so that one key has one form.
enum IdentityKey: Hashable {
  /// A single whole number, which most keys are: hashed and compared as such.
  case number(Int64)
  case text(String)
  /// Everything else, in the order of the attributes.
  case values([PropertyValue])

  /// `nil` if a value is null: what lacks a part of its identity is like nothing else.
  init?(_ values: [PropertyValue]) {
    guard !values.isEmpty, !values.contains(where: \.isNull) else { return nil }
    if values.count == 1 { self.init(values[0]) } else { self = .values(values) }
  }

  /// The identity of objects that their parents alone tell apart.
  static let none = IdentityKey.values([])

  /// The identity of a single attribute; `nil` if its value is null.
  init?(_ value: PropertyValue) {
    switch value {
    case .null: return nil
    case .integer(let number): self = .number(number)
    case .string(let text): self = .text(text)
    default: self = .values([value])
    }
  }

  subscript(index: Int) -> PropertyValue {
    switch self {
    case .number(let number): .integer(number)
    case .text(let text): .string(text)
    case .values(let values): values[index]
    }
  }
}

/// The objects of one entity, by the values of the attributes that identify them.
///
/// Keys are wanted first, then looked up together in one fetch, which sees the context's pending
/// changes. Objects that are made meanwhile are noted. A key that was wanted has an index, by which
/// its objects are found without hashing it again.
///
/// Objects that are told apart within a parent only, as the fields of a person by their types, are
/// looked up among the objects that refer to the parent: all of them by their keys would be far more
/// than are wanted.
///
/// Belongs to one plan.
final class IdentityTable {
  /// What distinguishes the tables of a plan.
  struct Scope: Hashable {
    let entity: Int
    /// Their slots.
    let attributes: [Int]
    let parent: Int?
    let condition: FetchPredicate?
  }

  /// The table's index among those of its plan.
  let index: Int
  let entity: EntitySchema
  let attributes: [AttributeCoder]
  /// Leads to the object that is a part of the identity; `nil` if none is.
  let parent: RelationshipSchema?
  /// What bounds the search; `nil` for no bounds.
  let scope: FetchPredicate?
  private let context: ManagedObjectContext
  /// All keys that were ever wanted, and where they stand.
  private var keys: [IdentityKey] = []
  private var numbers: [Int64: Int] = [:]
  private var others: [IdentityKey: Int] = [:]
  /// How often a key was wanted that had been wanted before.
  private(set) var repetitions = 0
  /// For each key that has been looked up its first object.
  private var found: [ManagedObject?] = []
  private var further: [Int: [ManagedObject]] = [:]
  /// For each parent that was looked at the objects that refer to it, by their keys.
  private var children: [ManagedObject: [IdentityKey: [ManagedObject]]] = [:]

  init(
    _ index: Int, _ entity: EntitySchema, _ attributes: [AttributeCoder],
    under parent: RelationshipSchema?, within scope: FetchPredicate?,
    in context: ManagedObjectContext
  ) {
    self.index = index
    self.entity = entity
    self.attributes = attributes
    self.parent = parent
    self.scope = scope
    self.context = context
  }

  /// Asks for the objects of a key at the next fetch; returns the key's index.
  @discardableResult
  func want(_ key: IdentityKey) -> Int32 {
    let next = keys.count
    let keyIndex: Int
    if case .number(let number) = key {
      keyIndex = numbers.keyIndex(of: number, orEnter: next)
    } else {
      keyIndex = others.keyIndex(of: key, orEnter: next)
    }
    if keyIndex == next { keys.append(key) } else { repetitions += 1 }
    return Int32(keyIndex)
  }

  /// Makes room for many keys at once. Of a few it is left to the lists to grow by more: a list that
  /// grew by what each of many small lists asks for would be copied for each.
  func reserve(_ count: Int) {
    guard count > keys.count else { return }
    keys.reserveCapacity(keys.count + count)
    numbers.reserveCapacity(numbers.count + count)
  }

  func key(at keyIndex: Int) -> IdentityKey { keys[keyIndex] }

  private func keyIndex(of key: IdentityKey) -> Int? {
    if case .number(let number) = key { numbers[number] } else { others[key] }
  }

  /// Looks up all keys that were asked for since the last time, in one fetch.
  func fetch() throws(ArborError) {
    guard found.count < keys.count else { return }
    guard parent == nil else {
      found.append(contentsOf: repeatElement(nil, count: keys.count - found.count))
      return
    }
    var objects: [ManagedObject]?
    if scope == nil, attributes.count == 1, let numbers = Self.numbers(keys[found.count...]) {
      objects = try context.session.objects(
        of: entity, withUnique: numbers, atSlot: attributes[0].slot)
    }
    if objects == nil {
      objects = try context.fetch(
        FetchRequest<ManagedObject>(entity: entity.name, predicate: try predicate()))
    }
    found.append(contentsOf: repeatElement(nil, count: keys.count - found.count))
    // Of several attributes' values the condition lets other combinations through: keys that
    // were not asked for.
    for object in objects ?? [] {
      if let key = key(of: object), let index = keyIndex(of: key) { enter(object, at: index) }
    }
  }

  /// The first object of a key, deleted ones left out. The key was wanted before the last fetch.
  func first(at keyIndex: Int) -> ManagedObject? {
    guard let object = found[keyIndex] else { return nil }
    return object.isDeleted ? further[keyIndex]?.first { !$0.isDeleted } : object
  }

  /// The object of a key if there is exactly one and it is not deleted.
  func only(at keyIndex: Int) -> ManagedObject? {
    guard further.isEmpty, let object = found[keyIndex], !object.isDeleted else { return nil }
    return object
  }

  /// The objects of a key that was wanted before the last fetch, deleted ones left out.
  func objects(at keyIndex: Int) -> [ManagedObject] {
    guard let first = found[keyIndex] else { return [] }
    guard !further.isEmpty, let others = further[keyIndex] else {
      return first.isDeleted ? [] : [first]
    }
    return ([first] + others).filter { !$0.isDeleted }
  }

  // MARK: Objects that are told apart within a parent

  /// The objects of a key that refer to a parent, deleted ones left out.
  func objects(at keyIndex: Int, of parent: ManagedObject) throws(ArborError) -> [ManagedObject] {
    if children[parent] == nil { children[parent] = try lookUp(parent) }
    return children[parent]?[keys[keyIndex]]?.filter { !$0.isDeleted } ?? []
  }

  /// Enters an object that will refer to a parent.
  func note(_ object: ManagedObject, at keyIndex: Int, of parent: ManagedObject) {
    children[parent]?[keys[keyIndex], default: []].append(object)
  }

  /// Forgets what refers to a parent, before that changes.
  func forget(_ parent: ManagedObject) { children[parent] = nil }

  private func lookUp(
    _ parent: ManagedObject
  ) throws(ArborError) -> [IdentityKey: [ManagedObject]] {
    guard let inverseSlot = self.parent?.inverseSlot else { return [:] }
    var found: [IdentityKey: [ManagedObject]] = [:]
    for object in parent.objects(leadingHereByInverse: inverseSlot) where object.isKind(of: entity)
    {
      if let scope, try !scope.matches(object) { continue }
      if let key = key(of: object) { found[key, default: []].append(object) }
    }
    return found
  }

  // MARK: Objects of the store

  /// Enters an object that has come by its key since the key was looked up.
  ///
  /// - Parameter guess: The index of the key that the object probably has.
  func note(_ object: ManagedObject, guess: Int? = nil) throws(ArborError) {
    guard let key = key(of: object) else { return }
    let keyIndex = guess.flatMap { keys[$0] == key ? $0 : nil } ?? keyIndex(of: key)
    guard let keyIndex, keyIndex < found.count else { return }
    if let scope, try !scope.matches(object) { return }
    enter(object, at: keyIndex)
  }

  private func enter(_ object: ManagedObject, at keyIndex: Int) {
    guard let known = found[keyIndex] else {
      found[keyIndex] = object
      return
    }
    if known !== object, further[keyIndex]?.contains(object) != true {
      further[keyIndex, default: []].append(object)
    }
  }

  /// The key that an object has now; `nil` if a value is null.
  private func key(of object: ManagedObject) -> IdentityKey? {
    if attributes.count == 1 { return IdentityKey(object.value(atSlot: attributes[0].slot)) }
    if attributes.isEmpty { return IdentityKey.none }
    return IdentityKey(attributes.map { object.value(atSlot: $0.slot) })
  }

  private func predicate() throws(ArborError) -> FetchPredicate? {
    let wanted = keys[found.count...]
    var condition = scope
    for (keyIndex, attribute) in attributes.enumerated() {
      let isOneOf = try FetchPredicate(
        format: "%K IN %@", attribute.name, PropertyValue.list(Self.values(wanted, at: keyIndex)))
      condition = condition.map { $0 && isOneOf } ?? isOneOf
    }
    return condition
  }

  /// The values of the keys' attribute at a index, each once; numbers in order, for the index.
  private static func values(_ keys: ArraySlice<IdentityKey>, at keyIndex: Int) -> [PropertyValue] {
    if let numbers = numbers(keys) { return numbers.map(PropertyValue.integer) }
    return Array(Set(keys.map { $0[keyIndex] }))
  }

  /// Keys that are all whole numbers, in order; `nil` if one is not a number.
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
  /// The index of a key, which is entered at the next one if it has none.
  fileprivate mutating func keyIndex(of key: Key, orEnter next: Int) -> Int {
    var keyIndex = next
    func enter(_ present: inout Int) {
      if present < 0 { present = next }
      keyIndex = present
    }
    enter(&self[key, default: -1])
    return keyIndex
  }
}
