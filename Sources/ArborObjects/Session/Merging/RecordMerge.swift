internal import ArborModel

/// A three-way merge of one object's record, field by field: a function of what both sides began
/// with, what the context has made of it and what the store has.
///
/// |                     | object wins | store wins | overwrite | rollback |
/// |---------------------|-------------|------------|-----------|----------|
/// | changed by nobody   | same        | same       | same      | same     |
/// | by the context      | context     | context    | context   | store    |
/// | by the store        | store       | store      | context   | store    |
/// | by both             | context     | store      | context   | store    |
struct RecordMerge {
  private let base: RecordView
  private let mine: RecordView
  private let theirs: RecordView
  private let resolution: MergeResolution

  /// Of three records of one layout.
  init(
    base: RecordView, mine: RecordView, theirs: RecordView, _ resolution: MergeResolution
  ) {
    self.base = base
    self.mine = mine
    self.theirs = theirs
    self.resolution = resolution
  }

  /// Whether a field of the result is the context's; otherwise it is the store's.
  func isMine(_ field: RecordField) -> Bool {
    switch resolution {
    case .overwrite: true
    case .rollback: false
    case .objectWins: mine.differs(from: base, field)
    case .storeWins: mine.differs(from: base, field) && !theirs.differs(from: base, field)
    }
  }
}
