public import ArborJSON

/// The places of the values of an entity's properties in an item of a payload: by the property's
/// name, what kind of value it takes and the way to it.
///
/// ```swift
/// ["employeeID": .int("id"), "firstTag": .string("tags", 0), "photo": .value("user", "photo")]
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

/// One step on the way to a value: the name of a member, or an index in a list.
public struct SyncStep: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral
{
  let step: ItemRoute.Step

  /// The member of a name.
  public init(_ name: String) { step = .key(name) }

  /// The element at an index, from 0.
  public init(_ index: Int) { step = .index(index) }

  /// The member of a name.
  public init(stringLiteral name: String) { self.init(name) }

  /// The element at an index, from 0.
  public init(integerLiteral index: Int) { self.init(index) }
}

/// What a property takes from an item: a kind of value, and the way to it.
///
/// Where the way leads nowhere the value is null. Of another JSON type it is nil, or an error with
/// ``SyncSerializer/strictTypes``; the only conversions are that of a Boolean to a number and that
/// of a number to a whole one, towards zero.
public struct SyncSource: Sendable {
  /// Gives the serializer of a relationship's members.
  typealias Child =
    @Sendable (_ child: () -> JSONValue, _ parent: () -> JSONValue) -> any SyncSerializer

  enum Kind: Sendable {
    case value, string, bool, int, number, double, float, isoDate
    case toOne(Child)
    case toMany(Child)
  }

  let kind: Kind
  let route: ItemRoute

  init(_ kind: Kind, _ steps: [SyncStep]) {
    self.kind = kind
    route = ItemRoute(steps.map(\.step))
  }

  /// A value of the kind that the attribute itself takes.
  public static func value(_ steps: SyncStep...) -> SyncSource { SyncSource(.value, steps) }

  /// A text.
  public static func string(_ steps: SyncStep...) -> SyncSource { SyncSource(.string, steps) }

  /// A Boolean.
  public static func bool(_ steps: SyncStep...) -> SyncSource { SyncSource(.bool, steps) }

  /// A whole number of 64 bits; others are rounded towards zero.
  public static func int(_ steps: SyncStep...) -> SyncSource { SyncSource(.int, steps) }

  /// A number, exactly as far as the attribute keeps it.
  public static func number(_ steps: SyncStep...) -> SyncSource { SyncSource(.number, steps) }

  /// A floating-point number of 64 bits.
  public static func double(_ steps: SyncStep...) -> SyncSource { SyncSource(.double, steps) }

  /// A floating-point number of 32 bits.
  public static func float(_ steps: SyncStep...) -> SyncSource { SyncSource(.float, steps) }

  /// A date of ISO 8601 with time and zone, with or without fractions of a second.
  public static func isoDate(_ steps: SyncStep...) -> SyncSource { SyncSource(.isoDate, steps) }

  /// The object of a to-one relationship.
  ///
  /// - Parameter serializer: Gives the serializer for the JSON at the end of the way.
  public static func toOne<S: SyncSerializer>(
    _ steps: SyncStep..., serializer: @escaping @Sendable (_ child: JSONValue) -> S
  ) -> SyncSource {
    SyncSource(.toOne({ child, _ in serializer(child()) }), steps)
  }

  /// The object of a to-one relationship, by a serializer that depends on the parent's item.
  public static func toOne<S: SyncSerializer>(
    _ steps: SyncStep...,
    serializer: @escaping @Sendable (_ child: JSONValue, _ parent: JSONValue) -> S
  ) -> SyncSource {
    SyncSource(.toOne({ child, parent in serializer(child(), parent()) }), steps)
  }

  /// The members of a to-many relationship: a list, or a single object for a list of one.
  ///
  /// - Parameter serializer: Gives the serializer for all of them, from the JSON at the end of the
  ///   way.
  public static func toMany<S: SyncSerializer>(
    _ steps: SyncStep..., serializer: @escaping @Sendable (_ children: JSONValue) -> S
  ) -> SyncSource {
    SyncSource(.toMany({ child, _ in serializer(child()) }), steps)
  }

  /// The members of a to-many relationship, by a serializer that depends on the parent's item.
  public static func toMany<S: SyncSerializer>(
    _ steps: SyncStep...,
    serializer: @escaping @Sendable (_ children: JSONValue, _ parent: JSONValue) -> S
  ) -> SyncSource {
    SyncSource(.toMany({ child, parent in serializer(child(), parent()) }), steps)
  }
}

/// The same with a path as a list, for paths that are put together.
///
/// ```swift
/// let prefix: [SyncStep] = ["user", "address"]
/// let mapping: SyncMapping = ["city": .string(prefix + ["city"])]
/// ```
extension SyncSource {
  /// A value of the kind that the attribute itself takes.
  public static func value(_ path: [SyncStep]) -> SyncSource { SyncSource(.value, path) }

  /// A text.
  public static func string(_ path: [SyncStep]) -> SyncSource { SyncSource(.string, path) }

  /// A Boolean.
  public static func bool(_ path: [SyncStep]) -> SyncSource { SyncSource(.bool, path) }

  /// A whole number of 64 bits; others are rounded towards zero.
  public static func int(_ path: [SyncStep]) -> SyncSource { SyncSource(.int, path) }

  /// A number, exactly as far as the attribute keeps it.
  public static func number(_ path: [SyncStep]) -> SyncSource { SyncSource(.number, path) }

  /// A floating-point number of 64 bits.
  public static func double(_ path: [SyncStep]) -> SyncSource { SyncSource(.double, path) }

  /// A floating-point number of 32 bits.
  public static func float(_ path: [SyncStep]) -> SyncSource { SyncSource(.float, path) }

  /// A date of ISO 8601 with time and zone, with or without fractions of a second.
  public static func isoDate(_ path: [SyncStep]) -> SyncSource { SyncSource(.isoDate, path) }

  /// The object of a to-one relationship.
  ///
  /// - Parameters:
  ///   - path: The steps from the item to the object's JSON.
  ///   - serializer: Gives the serializer for the JSON at the path's end.
  public static func toOne<S: SyncSerializer>(
    _ path: [SyncStep], serializer: @escaping @Sendable (_ child: JSONValue) -> S
  ) -> SyncSource {
    SyncSource(.toOne({ child, _ in serializer(child()) }), path)
  }

  /// The members of a to-many relationship: a list, or a single object for a list of one.
  ///
  /// - Parameters:
  ///   - path: The steps from the item to the members' JSON.
  ///   - serializer: Gives the serializer for all of them, from the JSON at the path's end.
  public static func toMany<S: SyncSerializer>(
    _ path: [SyncStep], serializer: @escaping @Sendable (_ children: JSONValue) -> S
  ) -> SyncSource {
    SyncSource(.toMany({ child, _ in serializer(child()) }), path)
  }
}
