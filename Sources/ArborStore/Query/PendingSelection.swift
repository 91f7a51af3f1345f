package import ArborModel

/// Which of a context's rows a predicate can be true of: those whose key, made of some columns, is
/// one of a few.
///
/// It is what the conditions on leading columns of an index state, so that an object is found among
/// thousands that wait for a commit as it would be found in the store. The rows are evaluated by
/// the whole predicate afterwards: a row too many costs time only.
package struct PendingSelection: Sendable {
  /// Of fewer rows than this none are selected: to evaluate them all takes no longer.
  package static let leastRows = 64
  /// How many rows there have to be for each key that is looked for.
  static let rowsPerKey = 4

  /// The columns that keys are made of. Those of the whole family lie in them alike.
  package let columns: [IndexSchema.Column]
  /// Keys as ``IndexKeys`` makes them of records, each once.
  package let keys: [[UInt8]]
}
