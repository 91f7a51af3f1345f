internal import ArborModel

/// What a workspace tells of its edits, so that they can be taken back.
protocol UndoRecorder: AnyObject {
  /// Whether what changes now can be taken back.
  var isRecording: Bool { get }

  /// Whether a commit is being written: what it changes to be written is nothing to undo.
  var isSuspended: Bool { get set }

  /// The memory of the records before edits.
  var allocator: SlabAllocator { get }

  /// An edit that can be taken back is about to stand at a position of the log.
  func noteEdit(at position: Int)

  /// Lets the edits so far find out what they changed, before others change the same objects.
  func seal()

  /// A savepoint begins.
  ///
  /// - Returns: What to call when the log has gone back to it.
  func beginSavepoint() -> () -> Void

  /// A savepoint has ended, which began at a position of the log.
  func endSavepoint(from start: Int)

  /// The context goes back to its last commit.
  func rollBack()

  /// The context forgets everything.
  func removeAll()
}
