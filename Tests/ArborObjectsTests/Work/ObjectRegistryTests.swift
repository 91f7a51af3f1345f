import ArborModel
import Testing

@testable import ArborObjects

@Suite struct ObjectRegistryTests {
  @Test func sweepsTakeWhatNobodyUses() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      var kept: [Employee] = (0..<20).map { _ in context.insert(Employee.self) }
      let ids = kept.map(\.objectID)
      context.work.registry.sweep()
      #expect(context.work.registry.count == 20, "changed objects stay")
      try context.commit()
      kept.removeFirst(12)
      context.work.registry.sweep()
      #expect(context.work.registry.count == 8)
      #expect(kept.allSatisfy { context.work.registry.object($0.number) === $0 })
      kept.removeFirst(2)
      let spared = kept.count
      context.work.registry.sweep { $0.live.objectID == ids[13] }
      #expect(context.work.registry.count == spared + 1)
      context.work.registry.sweep()
      #expect(context.work.registry.count == spared)
    }
  }

  /// A walk over objects of which each has a change would find nothing.
  @Test func changesMakeNoSweepDue() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      for _ in 0..<6000 { context.insert(Employee.self) }
      #expect(context.work.registry.count == 6000)
      #expect(!context.work.registry.needsSweep(besides: context.work.pending.count))
      try context.commit()
      #expect(context.work.registry.needsSweep(besides: context.work.pending.count))
      let count = try context.count("Employee")
      #expect(count == 6000 && context.work.registry.count == 0)
    }
  }

  @Test func objectsAreReleasedOnce() throws {
    weak var object: Employee?
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      try context.withSnapshot {
        let employee = context.insert(Employee.self)
        object = employee
      }
      try context.commit()
      #expect(object != nil)
      context.work.registry.sweep()
      #expect(object == nil)
    }
  }

  @Test func forgettingDetaches() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let employee = context.insert(Employee.self)
      context.work.registry.forgetAll()
      #expect(employee.context == nil && context.work.registry.count == 0)
      #expect(context.work.registry.object(employee.number) == nil)
      context.reset()
      let count = try context.count("Employee")
      #expect(count == 0)
    }
  }
}
