import ArborData
import Testing

@Suite struct DataManagerGroupTests {
  @Test("Managers of a group commit and roll back together")
  func commitsAndRollsBackTogether() throws {
    let group = DataManagerGroup()
    let one = try Corporation.manager(group: group)
    let other = try Corporation.manager(group: group)
    let alone = try Corporation.manager()
    for manager in [one, other, alone] { try manager.insert("Company") }
    group.rollbackAll()
    #expect([one, other, alone].map(\.context.hasChanges) == [false, false, true])
    for manager in [one, other] { try manager.insert("Company") }
    try group.commitAll()
    #expect([one, other, alone].map(\.context.hasChanges) == [false, false, true])
    #expect(try one.count("Company") == 1 && other.count("Company") == 1)
    for manager in [one, other, alone] { try manager.store.check() }
  }

  @Test("A flush commits the whole group")
  func flushCommitsTheWholeGroup() throws {
    let group = DataManagerGroup()
    let one = try Corporation.manager(group: group)
    let other = try Corporation.manager(group: group)
    try other.insert("Company")
    try one.flush()
    #expect(!other.context.hasChanges)
    let alone = try Corporation.manager()
    try alone.insert("Company")
    try alone.flush()
    #expect(!alone.context.hasChanges)
    for manager in [one, other, alone] { try manager.store.check() }
  }

  @Test("A group doesn't retain its managers")
  func doesNotKeepItsManagersAlive() throws {
    let group = DataManagerGroup()
    let one = try Corporation.manager(group: group)
    do { _ = try Corporation.manager(group: group) }
    #expect(group.managers.map(ObjectIdentifier.init) == [ObjectIdentifier(one)])
    try group.commitAll()
  }
}
