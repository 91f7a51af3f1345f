import ArborModel
import ArborObjects

/// Finds the objects that documents speak of, by the values of attributes that identify them:
/// for a whole batch in one fetch per entity, never in one per item.
///
/// ```swift
/// let table = identities.table(for: entity, by: [employeeID])
/// for key in keys { table.want(key) }
/// try identities.fetch()
/// let known = table.objects(for: keys[0])
/// ```
///
/// Sees the pending changes of its context. Belongs to one run of one exchange.
final class IdentityMap {
  private struct Scope: Hashable {
    let entity: String
    let attributes: [String]
    let parent: String?
    let condition: FetchPredicate?
  }

  private let context: ManagedObjectContext
  private var indexes: [Scope: Int] = [:]
  private var tables: [IdentityTable] = []
  /// For entities whose objects were noted the tables that they belong to, as long as no other
  /// comes.
  private var tablesOfEntity: [ObjectIdentifier: [IdentityTable]] = [:]

  init(_ context: ManagedObjectContext) { self.context = context }

  /// The table of an entity and its subentities, by some attributes, and where `parent` is given by
  /// the object that this relationship leads to; `scope` bounds the search.
  func table(
    for entity: ExchangeEntity, by attributes: [ExchangeAttribute],
    under parent: ExchangeRelationship? = nil, within scope: FetchPredicate? = nil
  ) -> IdentityTable {
    let key = Scope(
      entity: entity.name, attributes: attributes.map(\.name), parent: parent?.name,
      condition: scope)
    if let index = indexes[key] { return tables[index] }
    let table = IdentityTable(entity, attributes, under: parent, within: scope, in: context)
    indexes[key] = tables.count
    tables.append(table)
    tablesOfEntity = [:]
    return table
  }

  /// Looks up all keys that were asked for, in one fetch per table.
  func fetch() throws(ArborError) {
    for table in tables { try table.fetch() }
  }

  /// Enters an object that was made, or has come by its key, into every table that it belongs to.
  ///
  /// - Parameter guess: A table that it belongs to, and the index of the key that it probably has.
  func note(
    _ object: ManagedObject, of entity: ExchangeEntity, guess: (IdentityTable, index: Int)? = nil
  ) throws(ArborError) {
    for table in tables(of: entity) {
      try table.note(object, guess: table === guess?.0 ? guess?.index : nil)
    }
  }

  private func tables(of entity: ExchangeEntity) -> [IdentityTable] {
    if let tables = tablesOfEntity[ObjectIdentifier(entity)] { return tables }
    let tables = tables.filter { entity.isKind(of: $0.entity.name) && $0.parent == nil }
    tablesOfEntity[ObjectIdentifier(entity)] = tables
    return tables
  }
}
