internal import ArborModel

/// One of an entity's indexes, as plans name it.
///
/// Neither a transaction nor a database belongs to it, so that a plan can be made, kept and printed
/// without a store.
struct IndexReference: Equatable {
  let entity: EntitySchema
  /// Which of the entity's indexes it is.
  let position: Int

  var schema: IndexSchema { entity.indexes[position] }

  /// The form of the index's keys.
  var keyColumns: [KeyDecoder.Column] { entity.keyColumns(of: schema) }

  static func == (left: Self, right: Self) -> Bool {
    left.entity === right.entity && left.position == right.position
  }
}
