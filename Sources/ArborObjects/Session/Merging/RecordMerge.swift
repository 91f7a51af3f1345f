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
  private let mine: RecordView
  private let theirs: RecordView
  private let resolution: MergeResolution

  /// Creates a merge of three records with the same layout.
  init(
    base: RecordView, mine: RecordView, theirs: RecordView, _ resolution: MergeResolution
  ) {
    self.base = base
    self.mine = mine
    self.theirs = theirs
    self.resolution = resolution
  }

  /// Returns whether the context's value of a field is used, rather than the store's.
  func isMine(_ field: RecordField) -> Bool {
    switch resolution {
    case .overwrite: true
    case .rollback: false
    case .objectWins: mine.differs(from: base, field)
    case .storeWins: mine.differs(from: base, field) && !theirs.differs(from: base, field)
    }
  }
}
