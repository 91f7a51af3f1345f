public import ArborJSON

/// The places of the values of an entity's properties in an item of a payload: by the property's
/// name, what kind of value it takes and the path to it.
///
/// ```swift
/// ["employeeID": .int("id"), "firstTag": .string(["tags", 0]), "photo": .value(["user", "photo"])]
/// ```
public struct SyncMapping: Sendable, ExpressibleByDictionaryLiteral {
  var sources: [(property: String, source: SyncSource)]

  /// A mapping of properties, each named once.
  public init(dictionaryLiteral elements: (String, SyncSource)...) {
    sources = elements.map { (property: $0.0, source: $0.1) }
  }

  /// A mapping of properties by their names.
  public init(_ sources: [String: SyncSource]) {
    self.sources = sources.sorted { $0.key < $1.key }
      .map { (property: $0.key, source: $0.value) }
  }

  /// The source of a property; nil: the sync leaves it alone.
  public subscript(property: String) -> SyncSource? {
    get { sources.first { $0.property == property }?.source }
    set {
      sources.removeAll { $0.property == property }
      if let newValue { sources.append((property: property, source: newValue)) }
    }
  }
}

/// The path from an item to a value: names of members, and indexes in lists from 0.
///
/// ```swift
/// let name: SyncPath = "name"
/// let street: SyncPath = ["user", "addresses", 0, "street"]
/// let city: SyncPath = [prefix, "city"]
/// ```
///
/// A name is the name of one member, even if it contains dots.
public struct SyncPath: Sendable, Hashable, ExpressibleByStringLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral
{
  let steps: [ItemRoute.Step]

  /// The member of a name.
  public init(_ name: String) { steps = [.key(name)] }

  /// The element at an index.
  public init(_ index: Int) { steps = [.index(index)] }

  /// The paths of a list, one after the other.
  public init(_ paths: [SyncPath]) { steps = paths.flatMap(\.steps) }

  /// The member of a name.
  public init(stringLiteral name: String) { self.init(name) }

  /// The element at an index.
  public init(integerLiteral index: Int) { self.init(index) }

  /// The paths of the literal, one after the other.
  public init(arrayLiteral paths: SyncPath...) { self.init(paths) }
}

/// The source of a property's value: a kind of value, and its path in an item.
///
/// If the path leads nowhere the value is null. A value of another JSON type counts as null, or is
/// an error with ``SyncSerializer/strictTypes``; the only conversions are that of a Boolean to a
/// number and that of a number to a whole one, towards zero.
public struct SyncSource: Sendable {
  /// Returns the serializer of a relationship's members.
  typealias Child =
    @Sendable (_ child: () -> JSONValue, _ parent: () -> JSONValue) -> any SyncSerializer

  enum Kind: Sendable {
    case value, string, bool, int, number, double, float, isoDate
    case toOne(Child)
    case toMany(Child)
  }

  let kind: Kind
  let route: ItemRoute

  private init(_ kind: Kind, _ path: SyncPath) {
    self.kind = kind
    route = ItemRoute(path.steps)
  }

  /// A value of the kind that the attribute itself takes.
  public static func value(_ path: SyncPath) -> SyncSource { SyncSource(.value, path) }

  /// A string.
  public static func string(_ path: SyncPath) -> SyncSource { SyncSource(.string, path) }

  /// A Boolean.
  public static func bool(_ path: SyncPath) -> SyncSource { SyncSource(.bool, path) }

  /// A whole number of 64 bits; others are rounded towards zero.
  public static func int(_ path: SyncPath) -> SyncSource { SyncSource(.int, path) }

  /// A number, exactly as far as the attribute keeps it.
  public static func number(_ path: SyncPath) -> SyncSource { SyncSource(.number, path) }

  /// A floating-point number of 64 bits.
  public static func double(_ path: SyncPath) -> SyncSource { SyncSource(.double, path) }

  /// A floating-point number of 32 bits.
  public static func float(_ path: SyncPath) -> SyncSource { SyncSource(.float, path) }

  /// A date of ISO 8601 with time and zone, with or without fractions of a second.
  public static func isoDate(_ path: SyncPath) -> SyncSource { SyncSource(.isoDate, path) }

  /// The object of a to-one relationship.
  ///
  /// - Parameters:
  ///   - path: The path to the object's JSON.
  ///   - serializer: Returns the serializer for the JSON at the end of the path, which may depend
  ///     on the parent's item.
  public static func toOne<S: SyncSerializer>(
    _ path: SyncPath,
    serializer: @escaping @Sendable (_ child: JSONValue, _ parent: JSONValue) -> S
  ) -> SyncSource {
    SyncSource(.toOne({ child, parent in serializer(child(), parent()) }), path)
  }

  /// The members of a to-many relationship: a list, or a single object for a list of one.
  ///
  /// - Parameters:
  ///   - path: The path to the members' JSON.
  ///   - serializer: Returns the serializer for all members, from the JSON at the end of the path
  ///     and the parent's item.
  public static func toMany<S: SyncSerializer>(
    _ path: SyncPath,
    serializer: @escaping @Sendable (_ children: JSONValue, _ parent: JSONValue) -> S
  ) -> SyncSource {
    SyncSource(.toMany({ child, parent in serializer(child(), parent()) }), path)
  }
}
