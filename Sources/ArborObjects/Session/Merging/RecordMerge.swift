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
  private let edited: UInt64
  private let resolution: MergeResolution

  /// Creates a merge of records with the same layout.
  ///
  /// - Parameters:
  ///   - base: The record that the context's changes were based on.
  ///   - shown: The newer record that the context has applied its changes to in the meantime, or
  ///     `nil` if there is none.
  ///   - edited: The bits of the fields that the context changed before that; see
  ///     ``RecordView/editedFields(since:in:)``. Both sides may have made the same change.
  init(
    base: RecordView, shown: RecordView? = nil, edited: UInt64 = 0, mine: RecordView,
    theirs: RecordView, _ resolution: MergeResolution
  ) {
    self.base = base
    self.shown = shown ?? base
    self.mine = mine
    self.theirs = theirs
    self.edited = edited
    self.resolution = resolution
  }

  /// Returns the record whose value of a field is used.
  ///
  /// - Parameter index: The index of the field in the layout.
  func source(of field: RecordField, at index: Int) -> RecordView {
    // The store computes derived values.
    if field.isDerived { return theirs }
    // The last bit stands for several fields.
    let isEdited = index < 63 && edited & 1 << UInt64(index) != 0
    let isMine = mine.differs(from: shown, field) || isEdited && mine.differs(from: base, field)
    return switch resolution {
    case .overwrite: isMine ? mine : base
    case .rollback: theirs
    case .objectWins: isMine ? mine : theirs
    case .storeWins: isMine && !isChangedByStore(field) ? mine : theirs
    }
  }

  /// Returns whether the store has another value than the base. The value of a restored object may be
  /// the same under another name.
  private func isChangedByStore(_ field: RecordField) -> Bool {
    guard field.isExternal, let present = theirs.blob(field), let former = base.blob(field) else {
      return theirs.differs(from: base, field)
    }
    return (present.checksum, present.length) != (former.checksum, former.length)
  }
}
