internal import ArborModel

/// Evaluates conditions on the records of one concrete entity.
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
