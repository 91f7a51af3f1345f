import ArborBrowser
import ArborJSON
import ArborModel
import ArborStore
import Foundation

/// Prints the objects of entities in the order of their numbers, in batches and thus in constant
/// memory.
struct ObjectDump {
  let store: StoreEngine
  /// The text of a predicate, or `nil` for all objects.
  let predicate: String?
  let limit: Int?

  private static let batch = 10_000

  /// Prints the objects of each entity. A single entity includes its subentities. Returns the
  /// number of objects.
  func print(_ entities: [String], to printer: inout Printer) throws -> Int {
    var count = 0
    for name in entities {
      guard let entity = store.schema.entity(named: name) else { continue }
      count += try print(
        entity, withSubentities: entities.count == 1, atMost: (limit ?? .max) - count,
        to: &printer)
    }
    return count
  }

  /// Returns the columns of an entity's objects, including those of its subentities.
  func columns(of entity: String) -> [String] {
    guard let entity = store.schema.entity(named: entity) else { return [] }
    var names = [IdentityColumn.name]
    for kind in [entity] + entity.concreteFamily.map({ store.schema.entities[$0] }) {
      let targets = kind.relationships.filter { !$0.isHidden && !$0.isToMany }.map(\.name)
      let attributes = kind.attributes.filter { !$0.description.isTransient }.map(\.name)
      for name in attributes + targets where !names.contains(name) { names.append(name) }
    }
    return names
  }

  private func print(
    _ entity: EntitySchema, withSubentities: Bool, atMost limit: Int, to printer: inout Printer
  ) throws -> Int {
    let condition = try bind(to: entity)
    let snapshot = try store.snapshot()
    defer { snapshot.close() }
    let isNested = printer.form == .json
    let labels = printer.form == .text ? try ObjectLabels(store) : nil
    defer { labels?.close() }
    var count = 0
    var last: ObjectNumber?
    while count < limit {
      let wanted = min(Self.batch, limit - count)
      let found = try snapshot.fetch(
        StoreQuery(
          entity: entity, includesSubentities: withSubentities, predicate: condition,
          limit: wanted, continuation: last.map { RowContinuation(values: [], number: $0) }),
        overlay: nil, allocator: SlabAllocator())
      for row in found.rows {
        guard let record = row.record, let object = DecodedObject(row.number, record, in: store)
        else { continue }
        printer.add(
          json: isNested ? object.json() : .object(object.row),
          text: labels.map { "\(object.name)  \(object.values($0))" } ?? object.name)
      }
      count += found.rows.count
      last = found.rows.last?.number
      if found.rows.count < wanted { break }
    }
    return count
  }

  private func bind(
    to entity: EntitySchema
  ) throws -> (bound: BoundPredicate, arguments: [PropertyValue])? {
    guard let predicate else { return nil }
    do { return try store.bind(predicate, to: entity) } catch {
      throw InspectError.notFound("--where: \(error)")
    }
  }
}
