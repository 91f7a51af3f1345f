public import ArborModel

/// A conflict between changes of the same object in a context and in the store, as passed to a
/// ``MergePolicy/custom(_:)`` policy.
///
/// ```swift
/// context.mergePolicy = .custom { conflict in
///   conflict.contestedOrders.isEmpty ? .objectWins : .storeWins
/// }
/// ```
public struct MergeConflict: Sendable {
  /// The ID of the object.
  public let objectID: ObjectID
  /// The object's values when the context read them. Empty for an inserted object whose unique
  /// values belong to another object; ``storeValues`` are then those of the other object. Also empty
  /// for a deleted object that both sides have restored.
  public let committedValues: [String: PropertyValue]
  /// The object's values in the context, or `nil` if it is deleted there.
  public let contextValues: [String: PropertyValue]?
  /// The object's values in the store, or `nil` if it is deleted there.
  public let storeValues: [String: PropertyValue]?

  /// The ordered relationships in which both sides moved members, or added a member at different
  /// positions. Empty if only the values above differ.
  public let contestedOrders: [ContestedOrder]

  /// The conflicting orders of one ordered relationship, each with the members it has on that side.
  public struct ContestedOrder: Sendable, Hashable {
    /// The relationship's name.
    public let relationship: String
    /// The order in the store on which the context's order is based.
    public let committedMembers: [ObjectID]
    /// The order in the context.
    public let contextMembers: [ObjectID]
    /// The order in the store.
    public let storeMembers: [ObjectID]
  }

  /// The resolution of a conflict.
  public enum Resolution: Sendable {
    /// Resolves like ``MergePolicy/mergeByPropertyObjectWins``.
    case objectWins
    /// Resolves like ``MergePolicy/mergeByPropertyStoreWins``.
    case storeWins
    /// Resolves like ``MergePolicy/overwrite``.
    case overwrite
    /// Resolves like ``MergePolicy/rollback``.
    case rollback
  }
}

extension MergeConflict {
  init(_ inserted: ManagedObject, _ other: ManagedObject) {
    self.init(
      objectID: inserted.objectID, committedValues: [:],
      contextValues: inserted.values(in: inserted.currentRecord),
      storeValues: other.values(in: other.currentRecord), contestedOrders: [])
  }
}

extension ManagedObject {
  /// Returns the values of a record by property name, restricted to `keys` unless it is `nil`.
  final func values(in record: RecordView, for keys: [String]? = nil) -> [String: PropertyValue] {
    var values: [String: PropertyValue] = [:]
    for property in binding.recordProperties where keys?.contains(property.name) ?? true {
      values[property.name] = fieldValue(property, in: record)
    }
    return values
  }
}
