public import ArborJSON

/// A mapping of the properties of an entity to values in an item of a payload: of each property
/// name to the type of the value and its path.
///
/// ```swift
/// ["employeeID": .int("id"), "firstTag": .string(["tags", 0]), "photo": .value(["user", "photo"])]
/// ```
public struct SyncMapping: Sendable, ExpressibleByDictionaryLiteral {
  var sources: [(property: String, source: SyncSource)]

  /// Creates a mapping of properties. Each property may occur only once; otherwise, a sync throws
  /// `invalidArgument`.
  public init(dictionaryLiteral elements: (String, SyncSource)...) {
    sources = elements.map { (property: $0.0, source: $0.1) }
  }

  /// Creates a mapping from a dictionary of properties.
  public init(_ sources: [String: SyncSource]) {
    self.sources = sources.sorted { $0.key < $1.key }
      .map { (property: $0.key, source: $0.value) }
  }

  /// The source of a property, or `nil` if the sync doesn't change the property.
  public subscript(property: String) -> SyncSource? {
    get { sources.first { $0.property == property }?.source }
    set {
      sources.removeAll { $0.property == property }
      if let newValue { sources.append((property: property, source: newValue)) }
    }
  }
}

/// The path from an item to a value: names of members, and zero-based indexes in lists.
///
/// ```swift
/// let name: SyncPath = "name"
/// let street: SyncPath = ["user", "addresses", 0, "street"]
/// let city: SyncPath = [prefix, "city"]
/// ```
///
/// A name refers to a single member, even if it contains dots.
public struct SyncPath: Sendable, Hashable, ExpressibleByStringLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral
{
  let steps: [ItemRoute.Step]

  /// Creates the path of a member.
  public init(_ name: String) { steps = [.key(name)] }

  /// Creates the path of an element.
  public init(_ index: Int) { steps = [.index(index)] }

  /// Creates a path by concatenating paths.
  public init(_ paths: [SyncPath]) { steps = paths.flatMap(\.steps) }

  /// Creates the path of a member.
  public init(stringLiteral name: String) { self.init(name) }

  /// Creates the path of an element.
  public init(integerLiteral index: Int) { self.init(index) }

  /// Creates a path by concatenating paths.
  public init(arrayLiteral paths: SyncPath...) { self.init(paths) }
}

/// The source of a property's value: a type of value and its path in an item.
///
/// A path that doesn't exist yields null. A value of another JSON type counts as null, or is an
/// error with ``SyncSerializer/strictTypes``. Only Booleans are converted to numbers, and numbers
/// to integers by truncation.
public struct SyncSource: Sendable {
  /// A closure that returns the serializer of a relationship's members.
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

  /// Creates a source that reads a value of the type that the attribute accepts.
  public static func value(_ path: SyncPath) -> SyncSource { SyncSource(.value, path) }

  /// Creates a source that reads a string.
  public static func string(_ path: SyncPath) -> SyncSource { SyncSource(.string, path) }

  /// Creates a source that reads a Boolean.
  public static func bool(_ path: SyncPath) -> SyncSource { SyncSource(.bool, path) }

  /// Creates a source that reads a 64-bit integer. Other numbers are truncated.
  public static func int(_ path: SyncPath) -> SyncSource { SyncSource(.int, path) }

  /// Creates a source that reads a number with the attribute's full precision.
  public static func number(_ path: SyncPath) -> SyncSource { SyncSource(.number, path) }

  /// Creates a source that reads a 64-bit floating-point number.
  public static func double(_ path: SyncPath) -> SyncSource { SyncSource(.double, path) }

  /// Creates a source that reads a 32-bit floating-point number.
  public static func float(_ path: SyncPath) -> SyncSource { SyncSource(.float, path) }

  /// Creates a source that reads an ISO 8601 date with time and time zone, with or without
  /// fractional seconds.
  public static func isoDate(_ path: SyncPath) -> SyncSource { SyncSource(.isoDate, path) }

  /// Creates a source that reads the object of a to-one relationship.
  ///
  /// - Parameters:
  ///   - path: The path to the object's JSON.
  ///   - serializer: A closure that returns the serializer for the JSON at the path. The result may
  ///     depend on the parent's item.
  public static func toOne<S: SyncSerializer>(
    _ path: SyncPath,
    serializer: @escaping @Sendable (_ child: JSONValue, _ parent: JSONValue) -> S
  ) -> SyncSource {
    SyncSource(.toOne({ child, parent in serializer(child(), parent()) }), path)
  }

  /// Creates a source that reads the members of a to-many relationship: a list, or a single object
  /// as a list of one.
  ///
  /// - Parameters:
  ///   - path: The path to the members' JSON.
  ///   - serializer: A closure that returns the serializer for all members, given the JSON at the
  ///     path and the parent's item.
  public static func toMany<S: SyncSerializer>(
    _ path: SyncPath,
    serializer: @escaping @Sendable (_ children: JSONValue, _ parent: JSONValue) -> S
  ) -> SyncSource {
    SyncSource(.toMany({ child, parent in serializer(child(), parent()) }), path)
  }
}
