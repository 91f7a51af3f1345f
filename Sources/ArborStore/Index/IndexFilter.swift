internal import ArborModel
internal import Foundation

/// Tells which records are in a partial index: its condition as code for each entity it covers.
///
/// For one thread at a time, as compiled predicates are.
struct IndexFilter {
  private let conditions: [(entity: UInt16, holds: CompiledPredicate)]

  /// - Returns: nil for an index of all records.
  /// - Throws: `invalidModel`, which no model that passed the rules brings about.
  init?(_ index: IndexSchema, _ schema: ModelSchema, storeID: UUID) throws(StoreError) {
    guard let condition = index.condition else { return nil }
    let environment = PredicateEnvironment(schema: schema, storeID: storeID)
    var conditions: [(entity: UInt16, holds: CompiledPredicate)] = []
    do throws(ArborError) {
      for entityIndex in schema.entities[index.declaringEntity].concreteFamily {
        let entity = schema.entities[entityIndex]
        let bound = try condition.bound(to: entity, in: schema)
        let code = try PredicateCompiler.compile(
          [bound.root], arguments: condition.predicate.arguments, for: entity,
          environment: environment)
        conditions.append((entity.number, code))
      }
    } catch {
      throw .invalidModel(error)
    }
    self.conditions = conditions
  }

  func holds(_ record: RecordView, _ number: ObjectNumber) -> Bool {
    conditions.first { $0.entity == number.entity }?.holds(record, number, nil) ?? false
  }
}
