public import ArborModel

/// One object that was changed both in a context and in the store, as a
/// ``MergePolicy/custom(_:)`` policy is shown it.
///
/// ```swift
/// context.mergePolicy = .custom { conflict in
///   conflict.contestedOrders.isEmpty ? .objectWins : .storeWins
/// }
/// ```
public struct MergeConflict: Sendable {
  /// The object.
  public let objectID: ObjectID
  /// Its values when the context read them; empty for an object that is inserted with unique values
  /// which another one has, whose values are the ``storeValues`` then.
  public let committedValues: [String: PropertyValue]
  /// Its values in the context; nil where it is deleted there.
  public let contextValues: [String: PropertyValue]?
  /// Its values in the store; nil where it is deleted there.
  public let storeValues: [String: PropertyValue]?

  /// The ordered relationships whose members both have moved, or to which both have added one at
  /// different places; empty where only the values above differ.
  public let contestedOrders: [ContestedOrder]

  /// The sequences of one ordered relationship of the object, each with the members that it has
  /// there.
  public struct ContestedOrder: Sendable, Hashable {
    /// The relationship's name.
    public let relationship: String
    /// The sequence in the store when the context chose its own.
    public let committedMembers: [ObjectID]
    /// The sequence in the context.
    public let contextMembers: [ObjectID]
    /// The sequence in the store.
    public let storeMembers: [ObjectID]
  }

  /// How a conflict is resolved.
  public enum Resolution: Sendable {
    /// As ``MergePolicy/mergeByPropertyObjectWins`` does.
    case objectWins
    /// As ``MergePolicy/mergeByPropertyStoreWins`` does.
    case storeWins
    /// As ``MergePolicy/overwrite`` does.
    case overwrite
    /// As ``MergePolicy/rollback`` does.
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
  /// The values of a record, by the names of the properties; nil for all.
  final func values(in record: RecordView, for keys: [String]? = nil) -> [String: PropertyValue] {
    var values: [String: PropertyValue] = [:]
    for property in binding.recordProperties where keys?.contains(property.name) ?? true {
      values[property.name] = fieldValue(property, in: record)
    }
    return values
  }
}
