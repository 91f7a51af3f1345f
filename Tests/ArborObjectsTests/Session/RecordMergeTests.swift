import ArborModel
import ArborStore
import ArborStore
import Testing

@testable import ArborObjects

/// Three-way merges of records: every pair of changes of one field, under every policy.
@Suite struct RecordMergeTests {
  private enum Side: String { case context, store }

  /// The base, context and store values of a field, and the side that is kept under each policy:
  /// object wins, store wins, overwrite, and rollback.
  private static let table: [(base: Int64?, mine: Int64?, theirs: Int64?, kept: [Side])] = [
    (1, 2, 1, [.context, .context, .context, .store]),
    (1, 1, 3, [.store, .store, .context, .store]),
    (1, 2, 3, [.context, .store, .context, .store]),
    (1, nil, 1, [.context, .context, .context, .store]),
    (1, 1, nil, [.store, .store, .context, .store]),
    (1, nil, 3, [.context, .store, .context, .store]),
    (1, 2, nil, [.context, .store, .context, .store]),
    (nil, 2, nil, [.context, .context, .context, .store]),
    (nil, nil, 3, [.store, .store, .context, .store]),
    (nil, 2, 3, [.context, .store, .context, .store]),
  ]

  @Test("The policy determines which side's value each field has after a merge")
  func eachFieldIsOneSides() throws {
    try ObjectStore.useOffice { store in
      let entity = try #require(store.engine.schema.entity(named: "Employee"))
      let field = try #require(entity.attributes.first { $0.name == "age" }).field
      let other = try #require(entity.attributes.first { $0.name == "salary" }).field
      let allocator = SlabAllocator()
      func record(_ value: Int64?) -> RecordBuffer {
        var record = RecordBuffer(copying: entity.layout.template, into: allocator)
        let isSet = record.set(
          field, value.map(PropertyValue.integer) ?? .null, allocator: allocator)
        #expect(isSet)
        return record
      }
      for row in Self.table {
        let (base, mine, theirs) = (record(row.base), record(row.mine), record(row.theirs))
        let policies: [MergeResolution] = [.objectWins, .storeWins, .overwrite, .rollback]
        for (policy, kept) in zip(policies, row.kept) {
          let merge = RecordMerge(
            base: base.view, mine: mine.view, theirs: theirs.view, policy)
          let source = merge.source(of: field, at: 0)
          let expected = kept == .context ? mine.view : theirs.view
          #expect(
            !source.differs(from: expected, field), "\(row) under \(policy)")
          // An unchanged field is the same on both sides.
          #expect(!mine.view.differs(from: theirs.view, other))
        }
      }
    }
  }
}
