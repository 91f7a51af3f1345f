/// The members of a JSON object, in the order in which they were written.
///
/// Two objects are equal when they have the same members, in whatever order. Finding a member takes
/// constant time.
///
/// ```swift
/// let employee: JSONObject = ["name": "Ada", "age": 36]
/// for (key, value) in employee { print(key, value) }     // name "Ada", then age 36
/// ```
public struct JSONObject: Sendable {
  /// One member: its key and its value.
  public typealias Element = (key: String, value: JSONValue)

  private var ownMembers: [Element]
  /// The tape index of each key; empty while there are so few that looking at each is faster.
  private var indexes: [String: Int]
  /// Where the members come from as long as nobody has changed them; nil: they are its own.
  private var scanned: ScannedObject?

  private static let indexingCount = 12

  /// An object without members.
  public init() {
    ownMembers = []
    indexes = [:]
  }

  /// An object whose members are read when they are asked for.
  init(_ scanned: ScannedObject) {
    self.init()
    self.scanned = scanned
  }

  /// An object of members whose keys are known to differ.
  package init(distinct members: [Element]) {
    ownMembers = members
    indexes = [:]
    if members.count > Self.indexingCount { rebuildIndexes() }
  }

  private var members: [Element] { scanned?.object.members ?? ownMembers }

  /// Makes the members the object's own, to be changed.
  private mutating func own() {
    if let object = scanned?.object { self = object }
  }

  /// The value of a key, nil where there is none.
  ///
  /// Setting a new key appends a member, setting a present one replaces its value in place, and
  /// setting nil removes the member (linear in their number).
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

  /// The keys, in order.
  public var keys: [String] { members.map(\.key) }

  /// The values, in order.
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
  /// The tape index of the first member.
  public var startIndex: Int { 0 }
  /// One behind the tape index of the last member.
  public var endIndex: Int { members.count }
  /// The member at a tape index.
  public subscript(position: Int) -> Element { members[position] }
}

extension JSONObject: Hashable {
  /// Whether two objects have the same keys with equal values, in whatever order.
  public static func == (left: Self, right: Self) -> Bool {
    left.count == right.count && left.members.allSatisfy { right[$0.key] == $0.value }
  }

  /// Feeds the members into a hasher, whatever their order.
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
  /// The members in the literal's order; keys must differ.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self.init(literal: elements)
  }

  /// An object of a literal's members, whose keys must differ.
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
