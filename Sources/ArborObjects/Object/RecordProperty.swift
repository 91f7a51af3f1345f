internal import ArborModel

/// A property that lies in the record and has a name for users: an attribute or a to-one
/// relationship.
struct RecordProperty {
  let name: String
  let field: RecordField
}
