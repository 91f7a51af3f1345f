/// The members of a JSON object, in document order.
///
/// Two objects are equal if they have the same members, in any order. Looking up a member takes
/// constant time.
///
/// ```swift
/// let employee: JSONObject = ["name": "Ada", "age": 36]
/// for (key, value) in employee { print(key, value) }     // name "Ada", then age 36
/// ```
public struct JSONObject: Sendable {
  /// A member: its key and its value.
  public typealias Element = (key: String, value: JSONValue)

  private var ownMembers: [Element]
  /// The index of each key. Empty for small objects, where a linear search is faster.
  private var indexes: [String: Int]
  /// The scanned object that provides the members until the first mutation, or `nil` if they are in
  /// `ownMembers`.
  private var scanned: ScannedObject?

  private static let indexingCount = 12

  /// Creates an empty object.
  public init() {
    ownMembers = []
    indexes = [:]
  }

  /// Creates an object whose members are decoded on first access.
  init(_ scanned: ScannedObject) {
    self.init()
    self.scanned = scanned
  }

  /// Creates an object from members whose keys are known to be distinct.
  package init(distinct members: [Element]) {
    ownMembers = members
    indexes = [:]
    if members.count > Self.indexingCount { rebuildIndexes() }
  }

  private var members: [Element] { scanned?.object.members ?? ownMembers }

  /// Copies the members of the scanned object before a mutation.
  private mutating func own() {
    if let object = scanned?.object { self = object }
  }

  /// The value of a key, or `nil` if the object doesn't have the key.
  ///
  /// Setting a new key appends a member, and setting an existing key replaces its value in place.
  /// Setting `nil` removes the member, in time linear in the number of members.
  public subscript(key: String) -> JSONValue? {
    get { index(of: key).map { members[$0].value } }
    set {
      own()
      switch (index(of: key), newValue) {
      case (let index?, let value?): ownMembers[index].value = value
      case (let index?, nil):
        ownMembers.remove(at: index)
        rebuildIndexes()
      case (nil, let value?):
        ownMembers.append((key, value))
        if !indexes.isEmpty {
          indexes[key] = ownMembers.count - 1
        } else if ownMembers.count > Self.indexingCount {
          rebuildIndexes()
        }
      case (nil, nil): break
      }
    }
  }

  /// The keys, in document order.
  public var keys: [String] { members.map(\.key) }

  /// The values, in document order.
  public var values: [JSONValue] { members.map(\.value) }

  private func index(of key: String) -> Int? {
    if let object = scanned?.object { return object.index(of: key) }
    return indexes.isEmpty ? ownMembers.firstIndex { $0.key == key } : indexes[key]
  }

  private mutating func rebuildIndexes() {
    indexes = [:]
    guard ownMembers.count > Self.indexingCount else { return }
    for (index, member) in ownMembers.enumerated() { indexes[member.key] = index }
  }
}

extension JSONObject: RandomAccessCollection {
  /// The index of the first member, always 0.
  public var startIndex: Int { 0 }
  /// The index after the last member.
  public var endIndex: Int { members.count }
  /// The member at the given index.
  public subscript(position: Int) -> Element { members[position] }
}

extension JSONObject: Hashable {
  /// Returns whether two objects have the same keys with equal values, in any order.
  public static func == (left: Self, right: Self) -> Bool {
    left.count == right.count && left.members.allSatisfy { right[$0.key] == $0.value }
  }

  /// Hashes the members, independent of their order.
  public func hash(into hasher: inout Hasher) {
    var sum = 0
    for (key, value) in members {
      var memberHasher = Hasher()
      memberHasher.combine(key)
      memberHasher.combine(value)
      sum ^= memberHasher.finalize()
    }
    hasher.combine(sum)
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// Creates an object with the members in the order of the literal.
  ///
  /// - Precondition: The keys are distinct.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self.init(literal: elements)
  }

  /// Creates an object from the members of a literal.
  ///
  /// - Precondition: The keys are distinct.
  package init(literal members: [(String, JSONValue)]) {
    self.init()
    for (key, value) in members {
      guard self[key] == nil else {
        stopProgram("The literal of a JSON object has the key “\(key)” twice.")
      }
      self[key] = value
    }
  }
}
