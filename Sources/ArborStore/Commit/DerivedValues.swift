internal import ArborFoundation
internal import ArborModel
internal import LMDB

/// Computes the stored derived values of records. The commit writer maintains them, and the store
/// check, the scrub and salvage compute all of them.
///
/// Not thread-safe, because the compiled expressions aren't.
final class DerivedValues {
  let plan: DerivationPlan
  private let environment: PredicateEnvironment
  /// The readers of the derivations, by concrete entity index. Compiled when first needed.
  private var readers: [Int: [ValueReader]] = [:]

  /// - Throws: `invalidModel`, which does not occur for a validated model.
  init(_ store: StoreEngine) throws(StoreError) {
    do throws(ArborError) { plan = try store.schema.derivationPlan() } catch {
      throw .invalidModel(error)
    }
    environment = PredicateEnvironment(schema: store.schema, storeID: store.id)
  }

  /// Returns the derivations of an entity's attributes, including inherited ones.
  @inline(__always)
  func derivations(of entity: EntitySchema) -> [Derivation] { plan.derivations[entity.index] }

  /// Computes a value from the state that a resolver reads, and stores it in a record.
  ///
  /// - Parameter index: The index of the derivation, which is not that of a commit date.
  /// - Throws: `unfitValue`, `invalidModel`.
  func compute(
    _ index: Int, of entity: EntitySchema, _ number: ObjectNumber, in record: inout RecordBuffer,
    _ resolver: any RecordResolver, _ allocator: SlabAllocator
  ) throws(StoreError) {
    let value = try readers(of: entity)[index](record.view, number, resolver)
    try store(value, index, of: entity, number, in: &record, allocator)
  }

  /// Stores a computed value in a record.
  ///
  /// - Throws: `unfitValue` if the attribute's type cannot hold it.
  func store(
    _ value: PropertyValue, _ index: Int, of entity: EntitySchema, _ number: ObjectNumber,
    in record: inout RecordBuffer, _ allocator: SlabAllocator
  ) throws(StoreError) {
    let attribute = entity.attributes[derivations(of: entity)[index].slot]
    guard let fitting = attribute.description.type.fittingDerived(value),
      record.set(attribute.field, fitting, allocator: allocator)
    else {
      throw .unfitValue(
        number, keyPath: attribute.name,
        what: "The derived value of \(entity.name).\(attribute.name) doesn't fit the attribute's "
          + "type. Expected \(attribute.description.type.expectation). Change the type.",
        value: "\(value)")
    }
  }

  private func readers(of entity: EntitySchema) throws(StoreError) -> [ValueReader] {
    if let known = readers[entity.index] { return known }
    do throws(ArborError) {
      let made = try derivations(of: entity).map { (derivation) throws(ArborError) in
        try PredicateCompiler.reader(
          for: derivation.expression, arguments: [], of: entity, environment: environment)
      }
      readers[entity.index] = made
      return made
    } catch {
      throw .invalidModel(error)
    }
  }

  /// Returns the attributes of a stored record whose value differs from the derivation, except
  /// those that contain the date of a commit. Values that cannot be computed because of damage
  /// elsewhere are left out.
  func wrongAttributes(
    of number: ObjectNumber, _ record: RecordView, _ entity: EntitySchema,
    _ resolver: SnapshotResolver, _ allocator: SlabAllocator
  ) throws(StoreError) -> [AttributeSchema] {
    guard !entity.layout.derivedFields.isEmpty else { return [] }
    var expected = RecordBuffer(copying: record.bytes, into: allocator)
    var wrong: [AttributeSchema] = []
    for (index, derivation) in derivations(of: entity).enumerated() where !derivation.isCommitDate {
      let attribute = entity.attributes[derivation.slot]
      do throws(StoreError) {
        try compute(index, of: entity, number, in: &expected, resolver, allocator)
      } catch {
        guard case .unfitValue = error else { throw error }
        wrong.append(attribute)
        continue
      }
      let isKnown = resolver.failure == nil && resolver.limit.interruption == nil
      if isKnown, expected.view.differs(from: record, attribute.field) { wrong.append(attribute) }
    }
    return wrong
  }
}

extension StoreEngine {
  /// The maximum number of objects per commit of ``recomputeDerivedValues()``.
  private static let recomputedAtOnce = 1 << 12

  /// Computes all stored derived values from scratch, except dates of commits.
  func recomputeDerivedValues() throws(StoreError) {
    for entity in schema.concreteEntities where !entity.layout.derivedFields.isEmpty {
      var start: UInt64? = 0
      while let first = start {
        var set = ChangeSet()
        start = nil
        try read { (reader) throws(StoreError) in
          try storing { () throws(LMDBError) in
            let cursor = try reader.cursor(databases.records(entity.index))
            var entry = try cursor.seek(first)
            while let found = entry {
              if set.recomputed.count == Self.recomputedAtOnce {
                start = found.integerKey
                return
              }
              set.recomputed.append(ObjectNumber(rawValue: found.integerKey))
              entry = try cursor.next()
            }
          }
        }
        try recompute(set)
      }
    }
  }

  /// Commits a set. If unique derived values collide, commits its objects one by one, and those that
  /// collide keep their values, which the store check reports.
  private func recompute(_ set: ChangeSet) throws(StoreError) {
    guard !set.isEmpty else { return }
    do throws(StoreError) { _ = try commit(set) } catch {
      guard case .notUnique = error else { throw error }
      guard set.recomputed.count > 1 else { return }
      for number in set.recomputed {
        var single = ChangeSet()
        single.recomputed = [number]
        try recompute(single)
      }
    }
  }

  /// Returns a resolver of the state that a transaction reads, which ignores cancellation.
  func uncancelledResolver(_ reader: TransactionReader) -> SnapshotResolver {
    let limit = WorkLimit()
    limit.ignoresCancellation = true
    return SnapshotResolver(
      QuerySource(store: self, reader: reader, unfinished: nil, limit: limit), overlay: nil)
  }
}
