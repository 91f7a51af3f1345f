/// The names that no property of a typed class may have, since `ManagedObject` has members called
/// so: macros, the generator of sources and the run time refuse them.
package let reservedPropertyNames: Set<String> = [
  "objectID", "entity", "entityDescription", "context", "isInserted", "isUpdated", "isDeleted",
  "isFault", "hasChanges", "changedValues", "committedValues", "value", "setValue", "validate",
  "awakeFromInsert", "awakeFromFetch", "willCommit", "didCommit", "prepareForDeletion",
  "validateForInsert", "validateForUpdate", "validateForDelete", "importValue", "didImport",
  "attribute", "setAttribute", "toOne", "setToOne", "toMany", "setToMany", "orderedToMany",
  "setOrderedToMany", "toManyView", "addToMany", "removeFromMany", "countOfMany", "manyContains",
  "toOneID", "transformed", "setTransformed", "transformedValue", "setTransformedValue",
  "setInitialValues", "hashValue", "hash", "self", "init",
]
