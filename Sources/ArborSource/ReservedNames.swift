/// The names that no property of a typed class may have, since `ManagedObject` has members called
/// so: macros, the generator of sources and the run time refuse them.
///
/// Methods that are called with labels, such as `value(forKey:)`, take no name away.
package let reservedPropertyNames: Set<String> = [
  "objectID", "entity", "entityDescription", "context", "isInserted", "isUpdated", "isDeleted",
  "isFault", "hasChanges", "changedValues", "committedValues", "awakeFromInsert", "awakeFromFetch",
  "willCommit", "didCommit", "prepareForDeletion", "validateForInsert", "validateForUpdate",
  "validateForDelete", "hashValue", "hash", "self", "init",
]
