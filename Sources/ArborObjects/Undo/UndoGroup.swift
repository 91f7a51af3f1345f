/// What one undo takes back: the edits of a group, in the order they were made.
///
/// An edit says what was before, of the parts that changed since; so taking it back changes nothing
/// that concurrent commits have done to other parts meanwhile.
final class UndoGroup {
  let name: String
  let log: EditLog

  init(named name: String, _ log: EditLog) {
    self.name = name
    self.log = log
  }

  var edits: ContiguousArray<Edit> { log.edits }
}
