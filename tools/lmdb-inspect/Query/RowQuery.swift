import ArborBrowser
import ArborModel
import ArborObjects
import ArborStore

/// A query for rows of values. Rows that are neither sorted nor grouped are streamed, so memory use
/// doesn't depend on their number.
struct RowQuery {
  let names: [String]
  private let request: FetchRequest<ManagedObject>
  private let context: ManagedObjectContext

  /// - Parameter request: The query. Without columns, it returns the object's identity, every
  ///   attribute and every to-one relationship.
  init(
    _ request: FetchRequest<ManagedObject>, of entity: EntitySchema, in schema: ModelSchema,
    _ context: ManagedObjectContext
  ) throws {
    var request = request
    var hasIdentity = false
    if request.propertiesToFetch.isEmpty, request.propertiesToGroupBy.isEmpty {
      request.propertiesToFetch = Self.allColumns(of: entity)
      // With its identity, no row equals another one.
      hasIdentity = !request.returnsDistinctResults
      if !hasIdentity { request.propertiesToFetch.removeFirst() }
    }
    self.request = request
    self.context = context
    do throws(ArborError) {
      let planned = try RowPlan(request.description, of: entity, in: schema).names
      names = hasIdentity ? [IdentityColumn.name] + planned.dropFirst() : planned
    } catch {
      throw InspectError.notFound("\(error)")
    }
  }

  /// Calls `body` with each row's values, in the order of ``names``. Reads a single snapshot of the
  /// store.
  func forEachRow(_ body: ([PropertyValue]) -> Void) throws {
    try context.forEachRow(request) {
      body($0)
      return true
    }
  }

  private static func allColumns(of entity: EntitySchema) -> [PropertyPath] {
    let attributes = entity.attributes.filter {
      // A large binary is not a table cell; `show` prints its length.
      !$0.description.isTransient && !$0.description.allowsExternalStorage
    }
    let targets = entity.relationships.filter { !$0.isHidden && !$0.isToMany }
    let names = attributes.map(\.name) + targets.map(\.name)
    return [PropertyPath("SELF AS \(IdentityColumn.alias(besides: names))")]
      + names.map { PropertyPath(PredicatePrinter.name($0)) }
  }
}
