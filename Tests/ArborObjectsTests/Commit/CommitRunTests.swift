import ArborModel
import ArborObjects
import Foundation
import Testing

/// An entity whose objects record their hooks.
final class Witness: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Witness", className: "Witness",
    attributes: [
      AttributeDescription(name: "text", type: .string, isOptional: true),
      AttributeDescription(name: "stamp", type: .integer64, defaultValue: 0),
    ],
    relationships: [RelationshipDescription(name: "next", destination: "Witness")])

  var text: String? {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var stamp: Int {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }

  var calls: [String] = []
  var beforeCommit: (Witness) -> Void = { _ in }
  var beforeInsertion: (Witness) -> Void = { _ in }
  var refusal: (any Error)?

  override func awakeFromInsert() { calls.append("awakeFromInsert") }
  override func awakeFromFetch() { calls.append("awakeFromFetch") }
  override func willCommit() {
    calls.append("willCommit")
    beforeCommit(self)
  }
  override func didCommit() { calls.append("didCommit") }
  override func prepareForDeletion() { calls.append("prepareForDeletion") }
  override func validateForInsert() throws {
    beforeInsertion(self)
    try validated("validateForInsert")
  }
  override func validateForUpdate() throws { try validated("validateForUpdate") }
  override func validateForDelete() throws { try validated("validateForDelete") }
  override func validate(_ value: PropertyValue, forKey key: String) throws {
    if value == "forbidden" { throw ArborError(.validation, "\(key) is forbidden.") }
  }

  private func validated(_ call: String) throws {
    calls.append(call)
    if let refusal { throw refusal }
  }
}

@Suite struct CommitRunTests {
  private func use(_ body: (PersistentStore, ManagedObjectContext) throws -> Void) throws {
    try ObjectStore.use(ManagedObjectModel(for: [Witness.self]), classes: [Witness.self]) {
      try body($0, $0.makeContext())
    }
  }

  @Test("The hooks of an object are called in order")
  func hooksRunInOrder() throws {
    try use { store, context in
      let witness = context.insert(Witness.self)
      try context.commit()
      #expect(
        witness.calls == ["awakeFromInsert", "willCommit", "validateForInsert", "didCommit"])
      witness.calls = []
      witness.text = "changed"
      try context.commit()
      #expect(witness.calls == ["willCommit", "validateForUpdate", "didCommit"])
      let other = store.makeContext()
      let same = try #require(try other.fetch(Witness.self).first)
      #expect(same.calls == ["awakeFromFetch"])
      witness.calls = []
      context.delete(witness)
      try context.commit()
      #expect(
        witness.calls == ["prepareForDeletion", "willCommit", "validateForDelete", "didCommit"])
    }
  }

  @Test("A hook may change and insert objects during a commit")
  func willCommitMayChangeThings() throws {
    try use { store, context in
      let witness = context.insert(Witness.self)
      witness.beforeCommit = { witness in
        if witness.stamp < 3 { witness.stamp += 1 }
        if witness.stamp == 3, witness.text == nil {
          witness.text = "done"
          witness.context?.insert(Witness.self).text = "made in willCommit"
        }
      }
      try context.commit()
      #expect(witness.stamp == 3 && witness.text == "done")
      #expect(try store.makeContext().count(Witness.self) == 2)
    }
  }

  @Test("A commit fails if its hooks keep making changes")
  func endlessChangesAreStopped() throws {
    try use { _, context in
      let witness = context.insert(Witness.self)
      witness.beforeCommit = { $0.stamp += 1 }
      let error = try failure { try context.commit() }
      #expect(error.code == .notAllowed && error.message == CommitHooksTests.endlessChanges)
      #expect(witness.stamp == 0 && witness.isInserted)
      context.rollback()
    }
  }

  @Test("A commit that fails validation changes nothing")
  func aRefusedCommitChangesNothing() throws {
    try use { store, context in
      let (good, bad) = (context.insert(Witness.self), context.insert(Witness.self))
      (good.text, bad.text) = ("good", "forbidden")
      bad.refusal = Interruption()
      good.beforeCommit = { $0.stamp = 9 }
      let error = try failure { try context.commit() }
      #expect(error.code == .validation && error.violations.count == 2)
      #expect(error.violations.map(\.keyPath).contains("text"))
      #expect(error.violations.contains { $0.underlying is Interruption })
      #expect(good.stamp == 0 && good.isInserted && bad.isInserted && context.hasChanges)
      #expect(try store.makeContext().count(Witness.self) == 0)
      (bad.text, bad.refusal) = ("allowed", nil)
      try context.commit()
      #expect(good.stamp == 9)
      #expect(try store.makeContext().count(Witness.self) == 2)
    }
  }

  @Test("A commit during another commit of the context is rejected")
  func commitsInsideOfCommitsAreRefused() throws {
    try use { _, context in
      let witness = context.insert(Witness.self)
      nonisolated(unsafe) var inner: (any Error)?
      witness.beforeCommit = { witness in
        do { try witness.context?.commit() } catch { inner = error }
      }
      try context.commit()
      #expect((inner as? ArborError)?.code == .notAllowed)
    }
  }

  @Test("Setting an attribute to the same value writes nothing")
  func settingTheSameValueWritesNothing() throws {
    try use { store, context in
      let witness = context.insert(Witness.self)
      witness.text = "same"
      try context.commit()
      witness.text = "same"
      #expect(!context.hasChanges && witness.changedValues() == [:])
      let author = store.makeContext()
      try context.commit()
      #expect(!context.hasChanges)
      // A write would have increased the record's version and caused a conflict for this change.
      let same = try #require(try author.fetch(Witness.self).first)
      witness.text = "other"
      same.stamp = 4
      try context.commit()
      #expect(try failure { try author.commit() }.code == .conflict)
    }
  }

  @Test("A uniqueness conflict between pending objects names both of them")
  func uniqueValuesNameBothObjects() throws {
    try ObjectStore.useOffice { store in
      let context = store.makeContext()
      let (one, two) = (context.insert(Company.self), context.insert(Company.self))
      (one.name, two.name) = ("Foo", "Foo")
      let error = try failure { try context.commit() }
      #expect(error.code == .notUnique && error.entity == "Company" && error.keyPath == "name")
      let other = try #require(error.underlying as? ArborError.OtherObject)
      #expect(Set([error.objectID, other.objectID]) == [one.objectID, two.objectID])
      #expect(context.hasChanges && one.isInserted)
      two.name = "Bar"
      try context.commit()
      (one.name, two.name) = ("Bar", "Foo")
      try context.commit()
      #expect(try context.fetchOne(Company.self, matching: "name == 'Bar'") === one)
    }
  }
}
