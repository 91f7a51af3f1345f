internal import ArborModel

/// What a context can take back, group by group, and bring again.
///
/// The open group is the end of the context's ``EditLog``; a closed one has taken its edits out of
/// it. Taking a group back makes new edits, which are the group that brings it again.
///
/// What `UndoHistory` of the live objects shows of it is documented there.
final class UndoStack: UndoRecorder {
  /// What one undo takes back: the edits of a group, in the order they were made.
  ///
  /// An edit says what was before, of the parts that changed since; so taking it back changes
  /// nothing that concurrent commits have done to other parts meanwhile.
  private struct Group {
    let name: String
    let log: EditLog
  }

  var isEnabled = true {
    didSet { if isEnabled != oldValue { seal(always: true) } }
  }
  var levelLimit: Int {
    didSet { trim() }
  }

  weak var work: Workspace?
  private var undoGroups: [Group] = []
  private var redoGroups: [Group] = [] { didSet { if redoGroups.isEmpty { hasForgotten = true } } }
  /// Whether groups may have been forgotten since the context last looked what is kept for them.
  var hasForgotten = false
  /// The group that edits belong to; nil before the first one.
  private var open: OpenGroup?
  /// Where the explicit groups that are open begin in the context's log.
  private var openStarts: [Int] = []
  /// Whether an undo or redo runs, whose edits are a group of their own.
  private var isReplaying = false
  private var mark = CommitMark()
  let allocator = SlabAllocator()
  var isSuspended = false

  /// A group whose edits are still those at the end of the context's log.
  private struct OpenGroup {
    let name: String
    /// The position of its first edit.
    var start: Int
    /// The nested groups that have ended, as positions.
    var nested: [Range<Int>] = []
  }

  /// What the last commit found, for rollbacks.
  private struct CommitMark {
    /// How many of the groups there were at the commit have not been undone since.
    var undoCount = 0
    /// The groups undone since, the last one first to come back.
    var undone: [Group] = []
    /// Where the log stood.
    var position = 0
    /// Whether the commit under way found no open group, and a closed one since the last commit.
    var hasClosedGroup = false
  }

  init(levelLimit: Int) { self.levelLimit = levelLimit }

  // MARK: Groups

  var canUndo: Bool { !undoGroups.isEmpty || hasOpenEdits }

  var canRedo: Bool { !redoGroups.isEmpty && (!openStarts.isEmpty || !hasOpenEdits) }

  var openGroupCount: Int { openStarts.count }

  var undoNames: [String] {
    (hasOpenEdits ? [open?.name ?? ""] : []) + undoGroups.reversed().map(\.name)
  }

  var redoNames: [String] { redoGroups.reversed().map(\.name) }

  func beginGroup(named name: String) {
    seal()
    if openStarts.isEmpty, !isInSavepoint {
      closeGroup()
      open = OpenGroup(name: name, start: position)
    }
    openStarts.append(position)
  }

  func endGroup() {
    guard let start = openStarts.popLast() else {
      preconditionFailure("endGroup() was called without a group; call beginGroup(named:) first.")
    }
    seal()
    endNested(from: start)
    // What was undone inside of an explicit group can be brought again behind its end.
    if openStarts.isEmpty { closeGroup(keepingRedo: true) }
  }

  /// Makes what follows a position a nested group.
  private func endNested(from start: Int) {
    if start < position { open?.nested.append(start..<position) }
  }

  /// Takes out the last nested group, or the edits after it where there are any. They have to be
  /// sealed.
  private func takeLastNested(from start: Int) -> Group? {
    guard let work, let group = open else { return nil }
    let count = work.log.count
    let last = group.nested.last ?? start..<start
    let ended = last.lowerBound >= start ? last : start..<start
    let lower = ended.upperBound < count ? max(ended.upperBound, start) : ended.lowerBound
    guard lower < count else { return nil }
    let taken = Group(name: group.name, log: work.log.take(from: lower))
    open?.nested.removeAll { $0.upperBound > lower }
    return taken
  }

  /// Closes the group that the context opened itself; an explicit one stays open.
  func closeGroup(keepingRedo: Bool = false) {
    // A savepoint may have to take back what it finds.
    guard openStarts.isEmpty, !isInSavepoint, let open else { return }
    seal()
    self.open = nil
    guard let work else { return }
    let group = Group(name: open.name, log: work.log.take(from: open.start))
    mark.position = open.start
    guard group.log.hasEffect() else { return UndoReplay(work: work).settle(group.log) }
    undoGroups.append(group)
    if !keepingRedo { redoGroups = [] }
    trim()
  }

  private func trim() {
    guard levelLimit > 0, undoGroups.count > levelLimit else { return }
    let excess = undoGroups.count - levelLimit
    undoGroups.removeFirst(excess)
    hasForgotten = true
    mark.undoCount = max(0, mark.undoCount - excess)
  }

  // MARK: Undoing

  func undo() {
    endAllGroups()
    guard let group = undoGroups.popLast() else { return }
    if undoGroups.count < mark.undoCount {
      mark.undoCount = undoGroups.count
      mark.undone.append(group)
    }
    if let redo = replay(group) { redoGroups.append(redo) }
  }

  func redo() {
    endAllGroups()
    guard let group = redoGroups.popLast(), let undo = replay(group) else { return }
    undoGroups.append(undo)
    trim()
  }

  func undoGroup() {
    guard let start = openStarts.last else { return undo() }
    seal()
    guard let group = takeLastNested(from: start) else { return }
    mark.position = min(mark.position, position)
    if let redo = replay(group) { redoGroups.append(redo) }
  }

  func redoGroup() {
    guard open != nil, !openStarts.isEmpty else { return redo() }
    guard let group = redoGroups.popLast(), let start = replayAtEnd(group) else { return }
    endNested(from: start)
  }

  func removeAll() {
    undoGroups = []
    redoGroups = []
    mark = CommitMark()
    // A savepoint may still have to take back what is in the log.
    if !isInSavepoint { work?.log.truncate(to: open?.start ?? position) }
    begin(at: position)
    work?.beginEpoch()
  }

  func begin(at position: Int) {
    open = openStarts.isEmpty ? nil : OpenGroup(name: open?.name ?? "", start: position)
    openStarts = openStarts.map { _ in position }
    mark.position = position
  }

  private func endAllGroups() {
    while !openStarts.isEmpty { endGroup() }
    closeGroup()
  }

  /// Undoes a group; returns what undoes that again.
  private func replay(_ group: Group) -> Group? {
    guard let start = replayAtEnd(group), let work else { return nil }
    return Group(name: group.name, log: work.log.take(from: start))
  }

  /// Undoes a group by edits at the end of the log; returns the position of the first.
  private func replayAtEnd(_ group: Group) -> Int? {
    guard let work else { return nil }
    precondition(!isInSavepoint, "A group was undone during a commit or a seed; do it afterwards.")
    group.log.seal(in: work)
    var start = 0
    // Merges other commits first: what comes of that is not part of the replay.
    work.withOperationSnapshot {
      start = work.log.count
      isReplaying = true
      work.beginEpoch()
      UndoReplay(work: work).run(group.log)
      isReplaying = false
      work.beginEpoch()
    }
    work.settleListeners()
    return start
  }
}

// MARK: - What the context tells

extension UndoStack {
  var isRecording: Bool { (isEnabled && !isSuspended) || isReplaying }

  private var isInSavepoint: Bool { work?.isInSavepoint ?? false }

  /// Where the context's log ends.
  private var position: Int { work?.log.count ?? 0 }

  private var hasOpenEdits: Bool { open.map { $0.start < position } ?? false }

  func noteEdit(at position: Int) {
    guard !isReplaying else { return }
    if open == nil { open = OpenGroup(name: "", start: position) }
    // A group that the context opened may have no net effect.
    if !openStarts.isEmpty { redoGroups = [] }
  }

  func seal() { seal(always: false) }

  private func seal(always: Bool) {
    guard let work, always || (open != nil && !work.log.isSealed) else { return }
    work.log.seal(in: work)
    // The next change of an object is an edit of its own.
    work.beginEpoch()
  }

  /// Tells that a commit begins, whose hooks may change things.
  func beginCommit() {
    seal()
    mark.hasClosedGroup = !hasOpenEdits && openStarts.isEmpty && undoGroups.count > mark.undoCount
  }

  func noteCommit() {
    if let work { work.log.seal(in: work) }
    if mark.hasClosedGroup, let hooks = open, let work, let group = undoGroups.last,
      work.log.hasEffect(from: hooks.start)
    {
      // What hooks change belongs to what made them run, which has been closed already.
      group.log.append(work.log.take(from: hooks.start))
      group.log.seal(in: work)
      open = nil
      redoGroups = []
    }
    closeGroup()
    mark = CommitMark(undoCount: undoGroups.count, position: position)
  }

  func rollBack() {
    work?.log.truncate(to: mark.position)
    if openStarts.isEmpty, let start = open?.start {
      work?.log.truncate(to: start)
      open = nil
    }
    clamp()
    undoGroups.removeLast(max(0, undoGroups.count - mark.undoCount))
    undoGroups += mark.undone.reversed()
    mark.undoCount = undoGroups.count
    mark.undone = []
    redoGroups = []
  }

  /// Takes back all positions behind the end of the log.
  private func clamp() {
    let end = position
    // A savepoint's first edit may have been one that is not undone.
    if let start = open?.start { open?.start = min(start, end) }
    openStarts = openStarts.map { min($0, end) }
    open?.nested.removeAll { $0.upperBound > end }
    mark.position = min(mark.position, end)
  }

  /// Calls `body` with every earlier record that may come back.
  func forEachRecord(_ body: (TrackedObject, RecordView) -> Void) {
    var logs = (undoGroups + redoGroups + mark.undone).map(\.log)
    if let work { logs.append(work.log) }
    for log in logs {
      for case .object(let edit) in log.edits {
        if let before = edit.before { body(edit.object, before) }
      }
    }
  }

  func beginSavepoint() -> () -> Void {
    let (sealedCount, openCount) = (work?.log.sealedCount ?? 0, openStarts.count)
    let redoGroups = redoGroups
    return { [unowned self] in
      work?.log.unseal(from: sealedCount)
      openStarts.removeLast(max(0, openStarts.count - openCount))
      clamp()
      self.redoGroups = redoGroups
    }
  }

  func endSavepoint(from start: Int) {
    guard let work else { return }
    work.log.endSavepoint(from: start, allocator)
    clamp()
  }

  /// Lets a stack record the edits of a workspace in place of another one; nil: nothing does.
  static func attach(_ stack: UndoStack?, to work: Workspace) {
    if let former = work.undo as? UndoStack {
      former.removeAll()
      former.work = nil
    }
    work.undo = stack
    guard let stack else { return }
    precondition(
      stack.work == nil, "An undo history belongs to one context; make another for the second one.")
    stack.work = work
    stack.begin(at: work.log.count)
    // The next change of each object is recorded.
    work.beginEpoch()
  }
}
