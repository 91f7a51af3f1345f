public import ArborJSON
public import ArborModel
public import ArborObjects

/// A specification of how the objects of one entity are synchronized with a JSON payload.
///
/// ```swift
/// struct EmployeeSerializer: SyncSerializer {
///   typealias Object = Employee
///   let identifiers = ["employeeID"]
///   let deleteMissing = false
///   var mapping: SyncMapping {
///     [
///       "employeeID": .int("id"), "fullName": .string(["user", "name"]), "hired": .isoDate("hired"),
///       "department": .toOne("department") { _, _ in
///         DepartmentSerializer(updateExisting: false, deleteMissing: false)
///       },
///     ]
///   }
/// }
/// let report = try await store.sync(from: .value(json), using: EmployeeSerializer())
/// ```
///
/// A serializer that is also `Hashable` is compiled only once for all items it is used for.
public protocol SyncSerializer: Sendable {
  /// The class of the objects. Use `ManagedObject` together with ``entityName``.
  associatedtype Object: ManagedObject

  /// The name of the entity. Defaults to `nil`, for the entity of ``Object``.
  var entityName: String? { get }
  /// The attributes that together identify an object. Defaults to none, which never matches an
  /// existing object. Each must be in the ``mapping``.
  ///
  /// One of them may be a to-one relationship. The others then identify an object among those
  /// related to the same object. The relationship doesn't have to be in the mapping if the items
  /// are members of that object.
  var identifiers: [String] { get }
  /// A Boolean value that indicates whether every item is inserted without looking for existing
  /// objects. Defaults to `false`.
  var forceInsert: Bool { get }
  /// A Boolean value that indicates whether an item without a matching object inserts one. Defaults
  /// to `true`.
  var insertMissing: Bool { get }
  /// A Boolean value that indicates whether an item changes its matching objects. If `false`, it
  /// only refers to them. Defaults to `true`.
  var updateExisting: Bool { get }
  /// A Boolean value that indicates whether objects missing from the payload are deleted.
  ///
  /// At the top level, these are all objects of the entity within the ``groupers``; in a
  /// relationship, the parent's former members. There is no default, so that deletion is always an
  /// explicit choice.
  var deleteMissing: Bool { get }
  /// The mapping of properties to values in an item.
  var mapping: SyncMapping { get }
  /// Closures applied to every item, in order, before anything else. If one returns `nil` or null,
  /// the item is dropped and counts as missing from the payload. Defaults to none.
  var validators: [@Sendable (JSONValue) -> JSONValue?] { get }
  /// The predicates that objects must match to be matched or deleted. All other objects are
  /// ignored. Defaults to none.
  var groupers: [FetchPredicate] { get }
  /// The treatment of properties whose key is missing from an item. Defaults to
  /// ``SyncAbsentKeys/clear``.
  var absentKeys: SyncAbsentKeys { get }
  /// A Boolean value that indicates whether a value of a JSON type other than the mapping's is an
  /// error. Defaults to `false`, in which case the value counts as null. Also applies to the
  /// serializers of relationships in the mapping.
  var strictTypes: Bool { get }
  /// The serializers of subentities, chosen by a member of the item. Defaults to `nil`, for none.
  var variants: SyncVariants? { get }
}

/// The serializers of an entity's subentities, one of which is chosen for each item by one of its
/// members.
///
/// ```swift
/// var variants: SyncVariants? {
///   SyncVariants(by: "type", ["photo": PhotoSerializer(), "film": FilmSerializer()])
/// }
/// ```
///
/// Of a chosen serializer, only the mapping and the entity are used: the serializer that contains
/// the variants specifies how objects are identified, inserted and deleted. Its own mapping is used
/// for items that choose no variant. An item that describes an existing object of a subentity is
/// read with that subentity's serializer, whether or not it chooses one.
public struct SyncVariants: Sendable {
  let path: SyncPath
  let serializers: [String: any SyncSerializer]

  /// Creates the serializers of subentities.
  ///
  /// - Parameters:
  ///   - path: The path of a string or number in the item.
  ///   - serializers: The serializers by value at the path. Numbers are written as in the payload.
  public init(by path: SyncPath, _ serializers: [String: any SyncSerializer]) {
    self.path = path
    self.serializers = serializers
  }
}

extension SyncSerializer {
  /// Defaults to `nil`, for the entity of the class.
  public var entityName: String? { nil }
  /// Defaults to none.
  public var identifiers: [String] { [] }
  /// Defaults to `false`.
  public var forceInsert: Bool { false }
  /// Defaults to `true`.
  public var insertMissing: Bool { true }
  /// Defaults to `true`.
  public var updateExisting: Bool { true }
  /// Defaults to none.
  public var validators: [@Sendable (JSONValue) -> JSONValue?] { [] }
  /// Defaults to none.
  public var groupers: [FetchPredicate] { [] }
  /// Defaults to ``SyncAbsentKeys/clear``.
  public var absentKeys: SyncAbsentKeys { .clear }
  /// Defaults to `false`.
  public var strictTypes: Bool { false }
  /// Defaults to none.
  public var variants: SyncVariants? { nil }
}

/// The treatment of properties whose key is missing from an item.
public enum SyncAbsentKeys: Sendable, Hashable {
  /// Treats them like null: an attribute is set to `nil`, a to-one relationship is cleared, and the
  /// members of a to-many relationship are unlinked without deleting them.
  case clear
  /// Leaves them unchanged.
  case leave
}

/// A report of the changes made by a sync.
public struct SyncReport: Sendable, Hashable {
  /// The number of inserted objects.
  public var inserted = 0
  /// The number of matched objects with changed properties.
  public var updated = 0
  /// The number of matched objects that already equaled the payload.
  public var unchanged = 0
  /// The number of deleted objects, not including those deleted by delete rules.
  public var deleted = 0
  /// The number of items that were null or dropped by a validator.
  public var dropped = 0

  /// Creates an empty report.
  package init() {}

  init(_ counts: ExchangeCounts) {
    inserted = counts.inserted
    updated = counts.updated
    unchanged = counts.unchanged
    deleted = counts.deleted
    dropped = counts.dropped
  }
}
