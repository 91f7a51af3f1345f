public import ArborJSON
public import ArborModel
public import ArborObjects

/// How a payload of JSON and the objects of one entity are brought into agreement.
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
/// A serializer that is also `Hashable` is understood once for all items that it is given for.
public protocol SyncSerializer: Sendable {
  /// The class of the objects; `ManagedObject` together with ``entityName``.
  associatedtype Object: ManagedObject

  /// The name of the entity; nil, the default: that of ``Object``.
  var entityName: String? { get }
  /// The attributes that identify an object, all together. None, the default: nothing is ever
  /// matched. Each needs a place in the ``mapping``.
  ///
  /// One of them may be a to-one relationship: the others then identify an object among those of its
  /// object. It needs no place in the mapping if items are members of that object's.
  var identifiers: [String] { get }
  /// Whether every item is inserted without a look whether it is there already; off by default.
  var forceInsert: Bool { get }
  /// Whether an item that matches no object makes one; on by default.
  var insertMissing: Bool { get }
  /// Whether an item changes the objects that it matches; on by default. Otherwise it only leads to
  /// them.
  var updateExisting: Bool { get }
  /// Whether objects that the payload does not describe are deleted: at the top all of the entity
  /// within the ``groupers``, in a relationship the parent's former members. There is no default:
  /// the code that syncs says it.
  var deleteMissing: Bool { get }
  /// The places of the values of properties in an item.
  var mapping: SyncMapping { get }
  /// What every item goes through, in order, before anything else. Nil or null drops it: it then
  /// counts as not in the payload. None by default.
  var validators: [@Sendable (JSONValue) -> JSONValue?] { get }
  /// What objects have to fulfil, all of it, to be matched or deleted. Others are neither seen nor
  /// touched. None by default.
  var groupers: [FetchPredicate] { get }
  /// What becomes of properties whose key an item lacks; ``SyncAbsentKeys/clear`` by default.
  var absentKeys: SyncAbsentKeys { get }
  /// Whether a value of another JSON type than the mapping's is an error; off by default, when it
  /// counts as nil.
  var strictTypes: Bool { get }
}

extension SyncSerializer {
  /// Nil: the entity of the class.
  public var entityName: String? { nil }
  /// None.
  public var identifiers: [String] { [] }
  /// False.
  public var forceInsert: Bool { false }
  /// True.
  public var insertMissing: Bool { true }
  /// True.
  public var updateExisting: Bool { true }
  /// None.
  public var validators: [@Sendable (JSONValue) -> JSONValue?] { [] }
  /// None.
  public var groupers: [FetchPredicate] { [] }
  /// ``SyncAbsentKeys/clear``.
  public var absentKeys: SyncAbsentKeys { .clear }
  /// False.
  public var strictTypes: Bool { false }
}

/// What becomes of properties whose key an item lacks.
public enum SyncAbsentKeys: Sendable, Hashable {
  /// As with null: an attribute becomes nil, a to-one is cleared, the members of a to-many are
  /// unlinked and none is deleted.
  case clear
  /// They are left alone.
  case leave
}

/// What a sync has done.
public struct SyncReport: Sendable, Hashable {
  /// The number of objects made.
  public var inserted = 0
  /// The number of matched objects of which a property changed.
  public var updated = 0
  /// The number of matched objects that were as the payload has it.
  public var unchanged = 0
  /// The number of objects deleted, without those that their delete rules took along.
  public var deleted = 0
  /// The number of items that were null or that a validator dropped.
  public var dropped = 0

  /// A report of nothing.
  package init() {}

  init(_ counts: ExchangeCounts) {
    inserted = counts.inserted
    updated = counts.updated
    unchanged = counts.unchanged
    deleted = counts.deleted
    dropped = counts.dropped
  }
}
