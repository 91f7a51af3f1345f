/// What one undo takes back: the edits of a group, in the order they were made.
///
/// An edit says what was before, of the parts that changed since; so taking it back changes nothing
/// that concurrent commits have done to other parts meanwhile.
package final class UndoGroup {
  package let name: String
  package let log: EditLog

  package init(named name: String, _ log: EditLog) {
    self.name = name
    self.log = log
  }

  package var edits: ContiguousArray<Edit> { log.edits }
}
