public import ArborJSON

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
