internal import ArborModel

/// A three-way merge of one object's record, field by field, from the common base, the context's
/// record and the store's record.
///
/// |                     | object wins | store wins | overwrite | rollback |
/// |---------------------|-------------|------------|-----------|----------|
/// | unchanged           | same        | same       | same      | same     |
/// | changed by context  | context     | context    | context   | store    |
/// | changed by store    | store       | store      | context   | store    |
/// | changed by both     | context     | store      | context   | store    |
struct RecordMerge {
  private let base: RecordView
  private let shown: RecordView
  private let mine: RecordView
  private let theirs: RecordView
  private let resolution: MergeResolution

  /// Creates a merge of records with the same layout.
  ///
  /// - Parameters:
  ///   - base: The record that the context's changes were based on.
  ///   - shown: The newer record that the context has applied its changes to in the meantime, or
  ///     `nil` if there is none.
  init(
    base: RecordView, shown: RecordView? = nil, mine: RecordView, theirs: RecordView,
    _ resolution: MergeResolution
  ) {
    self.base = base
    self.shown = shown ?? base
    self.mine = mine
    self.theirs = theirs
    self.resolution = resolution
  }

  /// Returns the record whose value of a field is used.
  func source(of field: RecordField) -> RecordView {
    // The store computes derived values.
    if field.isDerived { return theirs }
    let isMine = mine.differs(from: shown, field)
    return switch resolution {
    case .overwrite: isMine ? mine : base
    case .rollback: theirs
    case .objectWins: isMine ? mine : theirs
    case .storeWins: isMine && !theirs.differs(from: base, field) ? mine : theirs
    }
  }
}
