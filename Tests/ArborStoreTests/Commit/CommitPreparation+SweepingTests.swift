import ArborModel
@testable import ArborStore
import Foundation
import LMDB
import TestSupport
import Testing

/// Commits that delete a large part of an entity and drop its entries by number. Each test ends
/// with a check of the store, which compares every entry with its record.
@Suite struct CommitPreparationSweepingTests {
  private func texts(_ random: inout SeededRandom) -> [String: PropertyValue] {
    let words = ["a", "Äpfel", "café", "b-c", "x1", "東京", "über"]
    let count = Int.random(in: 0...3, using: &random)
    let body = (0..<count).compactMap { _ in words.randomElement(using: &random) }
    return [
      "title": .string("t\(Int.random(in: 0..<400, using: &random))"),
      "body": body.isEmpty ? .null : .string(body.joined(separator: " ")),
      "rank": .integer(Int64.random(in: 8...60, using: &random)),
    ]
  }

  @Test("Deleted objects are removed from indexes of every kind while other objects change")
  func whatGoesIsInNoIndex() throws {
    var random = SeededRandom()
    let seed = random.seed
    try TemporaryStore.use(IndexKindsModel.make(), inMemory: true) { store in
      var tasks: [ObjectNumber] = []
      for round in 0..<3 {
        let draft = Draft(store.file)
        tasks.shuffle(using: &random)
        let gone = tasks.prefix(round == 0 ? 0 : 1100 + round)
        for task in gone { try draft.delete(task) }
        tasks.removeFirst(gone.count)
        for task in tasks.prefix(200) { try draft.update(task, texts(&random)) }
        tasks += try (0..<1300).map { _ in try draft.insert("Task", texts(&random)) }
        try draft.commit()
        #expect(throws: Never.self, "seed \(seed)") { try store.check() }
      }
      #expect(tasks.count == 3900 - 2203)
    }
  }

  /// Inserts employees, some of them managers, each with a company. They share indexes and
  /// relationships.
  private func staff(
    _ file: StoreEngine, _ companies: [ObjectNumber]
  ) throws -> [ObjectNumber] {
    let draft = Draft(file)
    let staff = try (0..<2400).map { id in
      try draft.insert(
        id.isMultiple(of: 8) ? "Manager" : "Employee",
        ["employeeID": .integer(Int64(id)), "name": .string("name \(id % 50)")],
        to: ["company": companies[id % companies.count]])
    }
    try draft.commit()
    return staff
  }

  private func companies(_ file: StoreEngine) throws -> [ObjectNumber] {
    let draft = Draft(file)
    let companies = try (0..<5).map { try draft.insert("Company", ["name": .string("\($0)")]) }
    try draft.commit()
    return companies
  }

  @Test("Linked objects can be deleted only together with the objects that link to them")
  func membersGoWithTheirOwners() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let companies = try companies(store.file)
      let staff = try staff(store.file, companies)
      let draft = Draft(store.file)
      for person in staff where person != staff[1] { try draft.delete(person) }
      try draft.delete(companies[1])
      #expect {
        try draft.commit()
      } throws: {
        guard case .stillLinked(let linked)? = $0 as? StoreError else { return false }
        return linked.map(\.owner) == [staff[1]] && linked.map(\.deleted) == [companies[1]]
      }
      let other = Draft(store.file)
      other.changes = draft.changes
      try other.delete(staff[1])
      try other.commit()
    }
  }

  @Test("The unique values of deleted objects are available to objects inserted in the same set")
  func valuesOfWhatGoesAreFree() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let companies = try companies(store.file)
      let staff = try staff(store.file, companies)
      let draft = Draft(store.file)
      for person in staff[..<2000] { try draft.delete(person) }
      let deletions = draft.changes
      let offending = try draft.insert("Employee", ["employeeID": 2200])
      #expect {
        try draft.commit()
      } throws: {
        guard case .notUnique(let violations)? = $0 as? StoreError else { return false }
        return violations.map(\.existing) == [staff[2200]]
          && violations.map(\.offending) == [offending]
      }
      draft.changes = deletions
      let heir = try draft.insert("Employee", ["employeeID": 7], to: ["company": companies[2]])
      try draft.commit()
      #expect(try Draft(store.file).value(heir, "employeeID") == 7)
    }
  }

  @Test("A few deleted objects are looked up individually, and many are swept")
  func fewAreLookedUp() throws {
    try TemporaryStore.use(OfficeModel.make(), inMemory: true) { store in
      let companies = try companies(store.file)
      let staff = try staff(store.file, companies)
      let snapshot = try store.file.snapshot()
      defer { snapshot.close() }
      func swept(_ count: Int) throws -> Bool {
        var set = ChangeSet()
        set.records = staff.filter { staff[0].entity != $0.entity }.prefix(count)
          .map { .delete($0, from: 1) }
        let workspace = try CommitWorkspace(store.file)
        var preparation = try CommitPreparation(
          set, store: store.file, workspace: workspace, reader: snapshot.reader, sweeps: true)
        try preparation.collectAndCheck(set, date: Date())
        return !workspace.swept.isEmpty && workspace.indexes.contains { $0.isSwept }
          && workspace.relationships.contains { $0?.isSwept == true }
      }
      #expect(try swept(2000))
      #expect(try !swept(1000))
    }
  }
}
