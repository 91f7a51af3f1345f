package import ArborFoundation
internal import ArborJSON
package import ArborModel
package import ArborObjects

/// Writes objects of a context as seed documents.
///
/// Makes three passes over the objects, in batches: to collect them, to find the targets of
/// relationships, and to write them. All passes use one snapshot of the store.
package struct ExportRun {
  /// A closure that returns the value to export in place of an attribute's value.
  package typealias Mask = (_ entity: String, _ attribute: String, PropertyValue) -> PropertyValue

  private static let batch = 1_000

  private let context: ManagedObjectContext
  /// The exported properties of each entity, by entity index.
  private let mappings: [ExportMapping]
  private let depth: Int?
  private let mask: Mask?
  private let limit: ExchangeLimit
  private var index: ExportIndex

  /// - Parameters:
  ///   - depth: The maximum number of relationships between an exported object and the initial
  ///     ones, or `nil` for no limit.
  ///   - keys: The names of the properties to export, or `nil` for all.
  ///   - mask: A closure that replaces exported attribute values, or `nil` to export them
  ///     unchanged.
  package init(
    _ context: ManagedObjectContext, depth: Int?, keys: [String]? = nil, mask: Mask? = nil
  ) throws(ArborError) {
    let schema = context.store.schema
    self.context = context
    self.depth = depth
    self.mask = mask
    limit = ExchangeLimit(context)
    mappings = try ExportMapping.all(schema, keys: keys)
    index = ExportIndex(schema, storeID: context.store.id)
  }

  /// Adds initial objects in order, skipping those that don't exist.
  ///
  /// - Parameter areFetched: Whether the IDs were fetched from the exported snapshot, so that the
  ///   objects are known to exist.
  package mutating func add(_ ids: [ObjectID], areFetched: Bool = false) throws(ArborError) {
    guard !areFetched else {
      for id in ids { try index.add(id) }
      return
    }
    for start in stride(from: 0, to: ids.count, by: Self.batch) {
      let batch = Array(ids[start..<min(start + Self.batch, ids.count)])
      for object in try context.objects(with: batch) { try index.add(object.objectID) }
    }
  }

  /// Writes all objects to a sink, in chunks. Returns their number.
  package mutating func write(
    as format: JSONExportFormat, to sink: (Data) throws(ArborError) -> Void
  ) throws(ArborError) -> Int {
    try gather()
    try markTargets()
    var writer = ExportWriter(format)
    for start in stride(from: 0, to: index.count, by: Self.batch) {
      for (position, object) in try objects(from: start) {
        try limit.check()
        let mapping = mappings[index.entityIndex(at: position)]
        writer.write(try json(object, mapping, at: position), of: mapping.entity.name)
      }
      try sink(writer.takeText())
    }
    // Reports errors of nonthrowing reads.
    _ = try context.objects(with: [])
    writer.end()
    try sink(writer.takeText())
    return index.count
  }

  /// Returns the objects of a batch with their positions.
  private func objects(
    from start: Int
  ) throws(ArborError) -> Zip2Sequence<Range<Int>, [ManagedObject]> {
    let positions = start..<min(start + Self.batch, index.count)
    let objects = try context.objects(with: index.ids(positions))
    guard objects.count == positions.count else {
      throw ArborError(
        .objectNotFound,
        "Objects were deleted while they were being exported. Export again.")
    }
    return zip(positions, objects)
  }

  /// Adds related objects breadth first. Each level is sorted by entity and number, an order that
  /// is preserved when a store is seeded with the export.
  private mutating func gather() throws(ArborError) {
    var first = 0
    var step = 0
    while first < index.count, depth.map({ step < $0 }) ?? true {
      let next = index.count
      var reached: Set<ObjectID> = []
      for start in stride(from: first, to: next, by: Self.batch) {
        for (position, object) in try objects(from: start) where position < next {
          try limit.check()
          for link in mappings[index.entityIndex(at: position)].links {
            for target in try targets(of: object, link) where index.position(of: target) == nil {
              reached.insert(target)
            }
          }
        }
      }
      try add(reached.sorted { index.precedes($0, $1) })
      first = next
      step += 1
    }
  }

  private mutating func markTargets() throws(ArborError) {
    for start in stride(from: 0, to: index.count, by: Self.batch) {
      for (position, object) in try objects(from: start) {
        try limit.check()
        for link in mappings[index.entityIndex(at: position)].links {
          for target in try positions(of: object, at: position, link) { index.markTarget(target) }
        }
      }
    }
  }

  private func targets(
    of object: ManagedObject, _ link: ExportMapping.Link
  ) throws(ArborError) -> [ObjectID] {
    switch try object.value(forKey: link.name) {
    case .objectID(let id): return [id]
    case .list(let values):
      return values.compactMap { if case .objectID(let id) = $0 { id } else { nil } }
    default: return []
    }
  }

  /// Returns the positions of the targets to write for a relationship, in its order or in that of
  /// the export.
  private func positions(
    of object: ManagedObject, at position: Int, _ link: ExportMapping.Link
  ) throws(ArborError) -> [Int] {
    if link.role == .followed { return [] }
    var positions = try targets(of: object, link).compactMap { index.position(of: $0) }
    if link.role == .writtenAtTheLater { positions = positions.filter { $0 <= position } }
    return link.isOrdered ? positions : positions.sorted()
  }

  private func json(
    _ object: ManagedObject, _ mapping: ExportMapping, at position: Int
  ) throws(ArborError) -> JSONValue {
    var members: [JSONObject.Element] = []
    if let label = index.label(at: position) { members.append((SeedReader.id, .string(label))) }
    for attribute in mapping.attributes {
      var value = try object.value(forKey: attribute.name)
      if let mask { value = mask(mapping.entity.name, attribute.name, value) }
      guard let json = attribute.json(value) else {
        throw ArborError(
          .invalidDocument,
          "\(mapping.entity.name).\(attribute.name) has a value that cannot be represented in "
            + "JSON. Change the value, or exclude the attribute with keys."
        ).with(
          entity: mapping.entity.name, objectID: object.objectID, keyPath: attribute.name,
          offending: "\(value)")
      }
      members.append((attribute.name, json))
    }
    for link in mapping.links {
      let positions = try positions(of: object, at: position, link)
      guard !positions.isEmpty else { continue }
      let references = positions.map { position in
        JSONValue.object(
          JSONObject(distinct: [(SeedReader.ref, .string(index.name(at: position)))]))
      }
      members.append((link.name, link.isToMany ? .array(references) : references[0]))
    }
    return .object(JSONObject(distinct: members))
  }
}
