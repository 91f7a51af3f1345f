import ArborModel
import Testing

@testable import ArborObjects

@Suite struct ObjectRegistryTests {
  @Test("A sweep releases unused and unchanged objects")
  func sweepsTakeWhatNobodyUses() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      var kept: [Employee] = (0..<20).map { _ in context.insert(Employee.self) }
      let ids = kept.map(\.objectID)
      context.session.registry.sweep()
      #expect(context.session.registry.count == 20, "changed objects stay")
      try context.commit()
      kept.removeFirst(12)
      context.session.registry.sweep()
      #expect(context.session.registry.count == 8)
      #expect(kept.allSatisfy { context.session.registry.object($0.number) === $0 })
      kept.removeFirst(2)
      let spared = kept.count
      context.session.registry.sweep { $0.objectID == ids[13] }
      #expect(context.session.registry.count == spared + 1)
      context.session.registry.sweep()
      #expect(context.session.registry.count == spared)
    }
  }

  @Test("Objects with changes don't trigger a sweep, because it would release none of them")
  func changesMakeNoSweepDue() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      for _ in 0..<6000 { context.insert(Employee.self) }
      #expect(context.session.registry.count == 6000)
      #expect(!context.session.registry.needsSweep(besides: context.session.pending.count))
      try context.commit()
      #expect(context.session.registry.needsSweep(besides: context.session.pending.count))
      let count = try context.count("Employee")
      #expect(count == 6000 && context.session.registry.count == 0)
    }
  }

  @Test("A swept object is released")
  func objectsAreReleasedOnce() throws {
    weak var object: Employee?
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      try context.withSnapshot {
        let employee = context.insert(Employee.self)
        object = employee
      }
      try context.commit()
      #expect(object != nil)
      context.session.registry.sweep()
      #expect(object == nil)
    }
  }

  @Test("Forgetting objects detaches them from the context")
  func forgettingDetaches() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let employee = context.insert(Employee.self)
      context.session.registry.forgetAll()
      #expect(employee.context == nil && context.session.registry.count == 0)
      #expect(context.session.registry.object(employee.number) == nil)
      context.reset()
      let count = try context.count("Employee")
      #expect(count == 0)
    }
  }
}
