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
    if request.propertiesToFetch.isEmpty, request.propertiesToGroupBy.isEmpty {
      request.propertiesToFetch = Self.allColumns(of: entity)
      // With its identity, no row equals another one.
      if request.returnsDistinctResults { request.propertiesToFetch.removeFirst() }
    }
    self.request = request
    self.context = context
    do throws(ArborError) {
      names = try RowPlan(request.description, of: entity, in: schema).names
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
    return ["SELF AS id"]
      + (attributes.map(\.name) + targets.map(\.name)).map {
        PropertyPath(PredicatePrinter.name($0))
      }
  }
}
