internal import ArborModel
internal import ArborWork

/// Records the edits of a round.
final class RoundRecorder: ChangeListener {
  var edits: [Edit] = []

  var isOver: Bool { false }

  func note(_ edit: Edit) { edits.append(edit) }
  func noteReplaced(_ object: TrackedObject) {}
}
