import ArborFoundation
import ArborModel
import ArborObjects

/// The values of the attributes that identify an object.
///
/// The values are in the attributes' stored form and are compared like the values of a unique index:
/// strings by code point, numbers by numeric value.
enum IdentityKey: Hashable {
  /// A single integer, the most common key, which is hashed and compared as such.
  case number(Int64)
  case text(StoredText)
  /// Any other key, in the order of the attributes.
  case values([DistinctValue])

  /// Creates the identity of several attributes. Returns `nil` if a value is null, because an
  /// object without a part of its identity matches no other.
  init?(_ values: [PropertyValue]) {
    guard !values.isEmpty, !values.contains(where: \.isNull) else { return nil }
    if values.count == 1 {
      self.init(values[0])
    } else {
      self = .values(values.map(DistinctValue.init))
    }
  }

  /// The identity of objects that are identified only by their parents.
  static let none = IdentityKey.values([])

  /// Creates the identity of a single attribute. Returns `nil` if its value is null.
  init?(_ value: PropertyValue) {
    switch value {
    case .null: return nil
    case .integer(let number): self = .number(number)
    case .string(let text): self = .text(StoredText(text))
    default: self = .values([DistinctValue(value)])
    }
  }

  subscript(index: Int) -> PropertyValue {
    switch self {
    case .number(let number): .integer(number)
    case .text(let text): .string(text.text)
    case .values(let values): values[index].value
    }
  }
}

/// The objects of one entity by the values of their identifying attributes.
///
/// Keys are first requested and then looked up together in one fetch, which sees the context's
/// pending changes. Objects inserted in the meantime are recorded. A requested key has an index,
/// which avoids hashing it again.
///
/// Objects that are unique only within a parent, such as a person's fields by type, are looked up
/// among the objects that refer to the parent, because looking up all objects with their keys would
/// return far too many.
///
/// Belongs to one plan.
final class IdentityTable {
  /// The identity of a table in a plan.
  struct Scope: Hashable {
    let entity: Int
    /// The slots of the attributes.
    let attributes: [Int]
    let parent: Int?
    let condition: FetchPredicate?
  }

  /// The table's index in its plan.
  let index: Int
  let entity: EntitySchema
  let attributes: [AttributeCoder]
  /// The relationship to the parent object, if the parent is part of the identity.
  let parent: RelationshipSchema?
  /// The predicate that bounds the search, or `nil` for no bounds.
  let scope: FetchPredicate?
  private let context: ManagedObjectContext
  /// All requested keys, by index.
  private var keys: [IdentityKey] = []
  /// The indexes of keys that are a single integer.
  private var numbers: [Int64: Int] = [:]
  /// The indexes of all other keys.
  private var others: [IdentityKey: Int] = [:]
  /// The number of repeated requests for a key.
  private(set) var repetitions = 0
  /// The first object of each key that has been looked up.
  private var found: [ManagedObject?] = []
  /// The other objects of keys that have several, by index of the key.
  private var further: [Int: [ManagedObject]] = [:]
  /// For each parent that has been looked up, the objects that refer to it by key.
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

  /// Requests the lookup of a key by the next fetch. Returns the key's index.
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

  /// Reserves capacity for many keys at once. For a few keys, the arrays grow by themselves,
  /// because many small reservations would reallocate each time.
  func reserve(_ count: Int) {
    guard count > keys.count else { return }
    keys.reserveCapacity(keys.count + count)
    numbers.reserveCapacity(numbers.count + count)
  }

  func key(at keyIndex: Int) -> IdentityKey { keys[keyIndex] }

  private func keyIndex(of key: IdentityKey) -> Int? {
    if case .number(let number) = key { numbers[number] } else { others[key] }
  }

  /// Looks up all keys requested since the last call, in one fetch.
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
    // With several attributes, the predicate also matches combinations of values that weren't
    // requested.
    for object in objects ?? [] {
      if let key = key(of: object), let index = keyIndex(of: key) { enter(object, at: index) }
    }
  }

  /// Returns the first object of a key that isn't deleted, or `nil` if there isn't one. The key
  /// must have been requested before the last fetch.
  func first(at keyIndex: Int) -> ManagedObject? {
    guard let object = found[keyIndex] else { return nil }
    return object.isDeleted ? further[keyIndex]?.first { !$0.isDeleted } : object
  }

  /// Returns the object of a key if there is exactly one and it isn't deleted, otherwise `nil`.
  func only(at keyIndex: Int) -> ManagedObject? {
    guard further.isEmpty, let object = found[keyIndex], !object.isDeleted else { return nil }
    return object
  }

  /// Returns the objects of a key, except deleted ones. The key must have been requested before the
  /// last fetch.
  func objects(at keyIndex: Int) -> [ManagedObject] {
    guard let first = found[keyIndex] else { return [] }
    guard !further.isEmpty, let others = further[keyIndex] else {
      return first.isDeleted ? [] : [first]
    }
    return ([first] + others).filter { !$0.isDeleted }
  }

  // MARK: Objects identified within a parent

  /// Returns the objects of a key that refer to a parent, except deleted ones.
  func objects(at keyIndex: Int, of parent: ManagedObject) throws(ArborError) -> [ManagedObject] {
    if children[parent] == nil { children[parent] = try lookUp(parent) }
    return children[parent]?[keys[keyIndex]]?.filter { !$0.isDeleted } ?? []
  }

  /// Records an object that will refer to a parent.
  func note(_ object: ManagedObject, at keyIndex: Int, of parent: ManagedObject) {
    children[parent]?[keys[keyIndex], default: []].append(object)
  }

  /// Discards the recorded objects that refer to a parent, because they are about to change.
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

  /// Records an object that received its key after the key was looked up.
  ///
  /// - Parameter guess: The index of the object's likely key.
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

  /// Returns the current key of an object, or `nil` if a value is null.
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

  /// Returns the values of one attribute in the keys, without duplicates. Numbers are sorted for
  /// the index lookup.
  private static func values(_ keys: ArraySlice<IdentityKey>, at keyIndex: Int) -> [PropertyValue] {
    if let numbers = numbers(keys) { return numbers.map(PropertyValue.integer) }
    return Set(keys.map { DistinctValue($0[keyIndex]) }).map(\.value)
  }

  /// Returns the keys as sorted numbers, or `nil` if one of them isn't a number.
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
  /// Returns the index of a key, inserting it with the next index if it is new.
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
