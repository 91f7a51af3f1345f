import ArborModel
import ArborObjects

/// The values of the attributes that identify an object.
///
/// Values are those that the attributes keep, so that one key has one form.
enum IdentityKey: Hashable {
  /// A single whole number, which most keys are: hashed and compared as such.
  case number(Int64)
  case text(String)
  /// Everything else, in the order of the attributes.
  case values([PropertyValue])

  /// `nil` if a value is null: what lacks a part of its identity is like nothing else.
  init?(_ values: [PropertyValue]) {
    guard !values.isEmpty, !values.contains(where: \.isNull) else { return nil }
    if values.count == 1 { self.init(values[0]) } else { self = .values(values) }
  }

  /// The identity of objects that their parents alone tell apart.
  static let none = IdentityKey.values([])

  /// The identity of a single attribute; `nil` if its value is null.
  init?(_ value: PropertyValue) {
    switch value {
    case .null: return nil
    case .integer(let number): self = .number(number)
    case .string(let text): self = .text(text)
    default: self = .values([value])
    }
  }

  subscript(index: Int) -> PropertyValue {
    switch self {
    case .number(let number): .integer(number)
    case .text(let text): .string(text)
    case .values(let values): values[index]
    }
  }
}

/// Finds the objects that documents describe, by the values of attributes that identify them: for a
/// whole batch in one fetch per entity, never in one per item.
///
/// ```swift
/// let table = identities.table(for: entity, by: [employeeID])
/// for key in keys { table.want(key) }
/// try identities.fetch()
/// let known = table.objects(for: keys[0])
/// ```
///
/// Sees the pending changes of its context. Belongs to one plan.
final class IdentityMap {
  private struct Scope: Hashable {
    let entity: Int
    /// Their slots.
    let attributes: [Int]
    let parent: Int?
    let condition: FetchPredicate?
  }

  private let context: ManagedObjectContext
  private var indexes: [Scope: Int] = [:]
  private(set) var tables: [IdentityTable] = []
  /// For entities whose objects were noted the tables that they belong to, until there is another
  /// table.
  private var tablesOfEntity: [Int: [IdentityTable]] = [:]

  init(_ context: ManagedObjectContext) { self.context = context }

  /// The table of an entity and its subentities, by some attributes, and if `parent` is given by the
  /// object that this relationship leads to; `scope` bounds the search.
  func table(
    for entity: EntitySchema, by attributes: [AttributeCoder],
    under parent: RelationshipSchema? = nil, within scope: FetchPredicate? = nil
  ) -> IdentityTable {
    let key = Scope(
      entity: entity.index, attributes: attributes.map(\.slot), parent: parent?.slot,
      condition: scope)
    if let index = indexes[key] { return tables[index] }
    let table = IdentityTable(
      tables.count, entity, attributes, under: parent, within: scope, in: context)
    indexes[key] = tables.count
    tables.append(table)
    tablesOfEntity = [:]
    return table
  }

  /// Looks up all keys that were asked for, in one fetch per table.
  func fetch() throws(ArborError) {
    for table in tables { try table.fetch() }
  }

  /// Enters an object that was created, or has come by its key, into every table that it belongs to.
  ///
  /// - Parameter guess: A table that it belongs to, and the index of the key that it probably has.
  func note(
    _ object: ManagedObject, of entity: EntitySchema, guess: (IdentityTable, index: Int)? = nil
  ) throws(ArborError) {
    for table in tables(of: entity) {
      try table.note(object, guess: table === guess?.0 ? guess?.index : nil)
    }
  }

  private func tables(of entity: EntitySchema) -> [IdentityTable] {
    if let tables = tablesOfEntity[entity.index] { return tables }
    let tables = tables.filter { entity.isKind(of: $0.entity) && $0.parent == nil }
    tablesOfEntity[entity.index] = tables
    return tables
  }
}
