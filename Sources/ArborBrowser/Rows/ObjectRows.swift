internal import ArborModel
internal import ArborObjects
internal import ArborStore
internal import Foundation

/// Rows with the complete values of objects. Unlike in a table on the page, text and binary data
/// are not truncated.
struct ObjectRows {
  /// The names of the columns. The first one is the object's name.
  let names: [String]
  private let request: FetchRequest<ManagedObject>
  private let properties: Set<String>
  /// The number of objects that are read at a time: one if their values can be large.
  private let batch: Int
  private let workTime: Duration

  /// Creates the rows of an entity.
  ///
  /// - Parameters:
  ///   - columns: Properties or expressions; a to-many relationship is its number of members.
  ///     Empty for all properties.
  ///   - workTime: The time limit of one batch.
  init(
    _ entity: BrowsedSchema.Entity, columns: [String], in store: PersistentStore, workTime: Duration
  ) throws(ArborError) {
    let texts =
      columns.isEmpty
      ? entity.attributes.map(\.name)
        + entity.relationships.filter { !$0.isTransient }.map(\.name) : columns
    let many = Set(entity.relationships.filter(\.isToMany).map(\.name))
    let properties = Set(entity.attributes.map(\.name) + entity.relationships.map(\.name))
    var request = FetchRequest<ManagedObject>(entity: entity.name)
    request.propertiesToFetch =
      ["SELF AS object\(texts.count)"]
      + texts.enumerated().map { index, text in
        guard properties.contains(text) else { return PropertyPath(text) }
        let name = PredicatePrinter.name(text)
        return PropertyPath(many.contains(text) ? "\(name).@count AS count\(index)" : name)
      }
    try request.description.checkExpressions(.untrusted)
    let described = try store.schema.knownEntity(named: entity.name)
    let plan = try RowPlan(request.description, of: described, in: store.schema)
    names =
      [IdentityColumn.name]
      + zip(texts, plan.names.dropFirst()).map { many.contains($0) ? $0 : $1 }
    let isLarge = entity.attributes.contains { attribute in
      guard texts.contains(attribute.name) else { return false }
      switch attribute.type {
      case .binary, .transformable: return true
      default: return false
      }
    }
    self.request = request
    self.properties = properties
    batch = isLarge ? 1 : 200
    self.workTime = workTime
  }

  /// Calls a closure with the values of each object that matches, in order and from one snapshot.
  /// Stops if the closure returns `false`.
  ///
  /// Without sort keys, objects are passed on as they are read. Otherwise, their IDs are sorted
  /// first; only the IDs are kept in memory.
  ///
  /// - Parameters:
  ///   - predicate: The predicate that the objects must match, or `nil` for all objects.
  ///   - sortKeys: The order, by properties, expressions, or names of the columns.
  func forEach(
    matching predicate: FetchPredicate?, by sortKeys: [SortKey], in context: ManagedObjectContext,
    _ body: ([PropertyValue]) -> Bool
  ) throws(ArborError) {
    var request = request
    request.predicate = predicate
    guard !sortKeys.isEmpty else { return try context.forEachRow(request, body) }
    request.sortKeys = sortKeys
    // The first column is the object. The others are only needed if a sort key names them.
    let names = Set(names)
    if !sortKeys.contains(where: { names.contains($0.keyPath) && !properties.contains($0.keyPath) })
    {
      request.propertiesToFetch = Array(request.propertiesToFetch.prefix(1))
    }
    let sorted = request
    try Self.onSnapshot(of: context) { () throws(ArborError) in
      var ids: [ObjectID] = []
      try context.forEachRow(sorted) { values in
        if case .objectID(let id)? = values.first { ids.append(id) }
        return true
      }
      try forEach(ids, in: context) { (row) throws(ArborError) in body(row) }
    }
  }

  private static func onSnapshot(
    of context: ManagedObjectContext, _ body: () throws(ArborError) -> Void
  ) throws(ArborError) {
    do { try context.withSnapshot { try body() } } catch let error as ArborError {
      throw error
    } catch {
      throw ArborError(.inputOutput, "The rows cannot be read. Try again.")
    }
  }

  /// Calls a closure with the values of each object, in the order of the IDs. Skips objects that no
  /// longer exist. Stops if the closure returns `false`.
  func forEach(
    _ ids: [ObjectID], in context: ManagedObjectContext,
    _ body: ([PropertyValue]) throws(ArborError) -> Bool
  ) throws(ArborError) {
    var request = request
    for first in stride(from: 0, to: ids.count, by: batch) {
      let part = ids[first..<min(first + batch, ids.count)]
      request.predicate = try FetchPredicate(
        format: "SELF IN %@", PropertyValue.list(part.map(PropertyValue.objectID)))
      context.deadline = .now + workTime
      var rows: [ObjectID: [PropertyValue]] = [:]
      try context.forEachRow(request) { values in
        if case .objectID(let id)? = values.first { rows[id] = values }
        return true
      }
      for id in part {
        guard let row = rows[id] else { continue }
        guard try body(row) else { return }
      }
    }
  }
}
