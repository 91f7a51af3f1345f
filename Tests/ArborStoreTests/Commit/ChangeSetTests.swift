import ArborModel
import ArborStore
import Testing

@Suite struct ChangeSetTests {
  @Test("A record change reports its kind, record and base version")
  func changesSayWhatTheyAreBasedOn() {
    let number = ObjectNumber(entity: 1, sequence: 2)
    let layout = RecordLayout(entity: 1, number: 1, fields: [])
    let allocator = SlabAllocator()
    let record = RecordBuffer(copying: layout.template, into: allocator).view
    let insertion = ChangeSet.RecordChange.insert(number, record)
    #expect(insertion.kind == .insert && insertion.baseVersion == 0)
    #expect(insertion.record?.base == record.base)
    let update = ChangeSet.RecordChange.update(number, from: 4, record, changedProperties: 6)
    #expect(update.kind == .update && update.baseVersion == 4 && update.changedProperties == 6)
    let deletion = ChangeSet.RecordChange.delete(number, from: 9)
    #expect(deletion.kind == .delete && deletion.baseVersion == 9 && deletion.record == nil)
  }

  @Test("A change set is empty if there is nothing to write")
  func isEmptyWithoutAnythingToWrite() {
    var set = ChangeSet()
    set.author = "Ada"
    #expect(set.isEmpty)
    set.metadata = [("key", nil)]
    #expect(!set.isEmpty)
    set = ChangeSet()
    set.links = [.init(owner: ObjectNumber(entity: 1, sequence: 1), slot: 0, .reorder([]))]
    #expect(!set.isEmpty)
    set = ChangeSet()
    set.records = [.delete(ObjectNumber(entity: 1, sequence: 1), from: 1)]
    #expect(!set.isEmpty)
  }
}
