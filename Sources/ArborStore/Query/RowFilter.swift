internal import ArborModel

/// Judges the records of one concrete entity by conditions.
struct RowFilter {
  let entity: EntitySchema
  /// nil where every record passes.
  let predicate: CompiledPredicate?

  @inline(__always)
  func accepts(
    _ record: RecordView, _ number: ObjectNumber, _ resolver: SnapshotResolver
  ) -> Bool {
    guard let predicate else { return true }
    return predicate(record, number, resolver)
  }
}
