import ArborModel
import Testing

@testable import ArborObjects

@Suite struct PendingObjectsTests {
  @Test("Pending changes keep their order by entity")
  func changesKeepTheirOrderByEntity() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let first = context.insert(Employee.self)
      let company = context.insert(Company.self)
      let second = context.insert(Employee.self)
      let pending = context.session.pending
      #expect(pending.count == 3 && pending.deletedCount == 0)
      #expect(pending.all.map(\.object) == [first, second, company])
      #expect(pending.rows(of: first.binding.entity).map(\.0) == [first.number, second.number])
      #expect(pending.change(of: company.number)?.kind == .inserted)
      #expect(pending.record(of: company.number) != nil)
      context.delete(first)
      #expect(pending.count == 2 && pending.change(of: first.number) == nil)
      try context.commit()
      #expect(pending.count == 0 && pending.all.isEmpty)
      context.delete(second)
      #expect(pending.deletedCount == 1 && pending.record(of: second.number) != nil)
      #expect(pending.objects { $0.kind == .deleted } == [second])
      context.rollback()
    }
  }

  @Test("Discarded changes are removed from the list of pending objects")
  func droppedChangesGiveWay() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let kept = context.insert(Employee.self)
      for _ in 0..<1000 { context.delete(context.insert(Employee.self)) }
      #expect(context.session.pending.all.count == 1)
      #expect(context.insertedObjects == [kept])
      try context.commit()
      #expect(try context.count("Employee") == 1)
    }
  }
}
