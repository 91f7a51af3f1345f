import ArborModel
import ArborObjects
import ArborStore

/// Rows of values of a store's objects, handed on as they are read: the memory they take does not
/// depend on their number, but for groups and for rows sorted by what only a column has.
struct RowQuery {
  /// So many objects are read at a time.
  private static let batch = 1000

  /// What the columns are called.
  let names: [String]
  private let request: FetchRequest<ManagedObject>
  private let plan: RowPlan
  private let context: ManagedObjectContext

  /// - Parameter request: What is asked for; without columns the objects' identity, every attribute
  ///   and every to-one relationship.
  init(
    _ request: FetchRequest<ManagedObject>, of entity: EntitySchema, in schema: ModelSchema,
    _ context: ManagedObjectContext
  ) throws {
    var request = request
    if request.propertiesToFetch.isEmpty, request.propertiesToGroupBy.isEmpty {
      request.propertiesToFetch = Self.allColumns(of: entity)
    }
    self.request = request
    self.context = context
    do throws(ArborError) {
      plan = try RowPlan(request.description, of: entity, in: schema)
    } catch {
      throw InspectError.notFound("\(error)")
    }
    names = plan.names
  }

  /// Hands each row's values on, in the order of ``names``, from one state of the store.
  func forEachRow(_ body: ([Value]) throws -> Void) throws {
    try context.withSnapshot {
      guard plan.grouping == nil, plan.order.isEmpty else {
        return try hand(on: context.fetchRows(request), body)
      }
      var objects = request
      objects.propertiesToFetch = []
      objects.fetchBatchSize = Self.batch
      let cursor = try context.cursor(for: objects)
      while true {
        var ids: [ObjectID] = []
        while ids.count < Self.batch, let object = try cursor.next() {
          ids.append(object.objectID)
        }
        if ids.isEmpty { return }
        var part = request
        part.predicate = "SELF IN \(ids)"
        part.fetchLimit = 0
        part.fetchOffset = 0
        try hand(on: context.fetchRows(part), body)
      }
    }
  }

  private func hand(on rows: [[String: Value]], _ body: ([Value]) throws -> Void) rethrows {
    for row in rows { try body(names.map { row[$0] ?? .null }) }
  }

  private static func allColumns(of entity: EntitySchema) -> [String] {
    let attributes = entity.attributes.filter {
      // A large binary is no cell of a table; “show” tells its length.
      !$0.description.isTransient && !$0.description.allowsExternalStorage
    }
    let targets = entity.relationships.filter { !$0.isHidden && !$0.isToMany }
    return ["SELF AS id"] + attributes.map(\.name) + targets.map(\.name)
  }
}
