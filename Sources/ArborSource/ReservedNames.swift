/// The names that properties of typed classes must not have, because `ManagedObject` has members of
/// these names. The macros, the source generator and the runtime reject them.
///
/// Methods with argument labels, such as `value(forKey:)`, don't reserve a name.
package let reservedPropertyNames: Set<String> = [
  "objectID", "entity", "entityDescription", "context", "isInserted", "isUpdated", "isDeleted",
  "isFault", "hasChanges", "changedValues", "committedValues", "awakeFromInsert", "awakeFromFetch",
  "willCommit", "didCommit", "prepareForDeletion", "validateForInsert", "validateForUpdate",
  "validateForDelete", "hashValue", "hash", "self", "init",
]
