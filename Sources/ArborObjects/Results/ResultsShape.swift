internal import ArborFoundation
internal import ArborModel
internal import ArborStore

/// The properties of a request that are known before fetching: which changes affect it, and how
/// individual objects are evaluated and sorted.
struct ResultsShape {
  let entity: EntitySchema
  /// The request to fetch. The section key comes first in its sort keys.
  let description: FetchDescription
  let sectionPath: String?
  /// The sort key that defines the sections, or `nil` if there are no sections.
  let sectionKey: BoundSortKey?
  /// The order of the rows' keys: that of the results, or that of the section key if results are
  /// only fetched. `nil` if there are no keys.
  let order: RecordOrder?
  /// The reasons why changes can only be applied by fetching again. Empty if they can be applied one
  /// by one.
  let reasonsToFetch: [String]
  /// Whether the predicate reads objects other than the evaluated one, or can be expensive.
  let needsResolver: Bool
  /// The properties that determine whether an object is a result and at which position, by entity
  /// index. `nil` for entities whose objects can never be results.
  let ownBits: [UInt64?]
  /// The paths to other objects that affect results, and the properties that are read from them.
  let related: [PropertiesRead.Related]
  /// The properties of objects that affect results in other ways, by entity index.
  let otherBits: [UInt64]
  private let predicate: FetchPredicate?
  private let schema: ModelSchema

  init(
    _ description: FetchDescription, _ entity: EntitySchema, sectionedBy sectionPath: String?,
    schema: ModelSchema, storeID: UUID, locale: Locale?
  ) throws(ArborError) {
    var description = description
    description.sortKeys = description.resultOrder
    if let sectionPath, description.sortKeys.first?.keyPath != sectionPath {
      description.sortKeys.insert(.ascending(sectionPath), at: 0)
    }
    self.entity = entity
    self.description = description
    self.sectionPath = sectionPath
    predicate = description.predicate
    var read = PropertiesRead()
    var needsResolver = false
    if let predicate {
      let bound = try PredicateBinder.bind(predicate, to: entity, in: schema)
      read.add(bound.root)
      needsResolver =
        !bound.dependencies.isEmpty || bound.dependencies.needsLimits
        || description.allowance.work != nil
    }
    let keys = try description.sortKeys.bind(to: entity, in: schema)
    for key in keys { read.add(key) }
    let group = try description.limitPerGroup?.bind(to: entity, in: schema)
    for key in group?.resultOrder ?? [] { read.add(key) }
    sectionKey = sectionPath == nil ? nil : keys.first
    self.needsResolver = needsResolver
    let family = description.includesSubentities ? entity.concreteFamily : [entity.index]
    reasonsToFetch = Self.reasonsToFetch(description, keys, read)
    let rowKeys = reasonsToFetch.isEmpty ? keys : Array(keys.prefix(sectionPath == nil ? 0 : 1))
    order =
      if rowKeys.isEmpty && !reasonsToFetch.isEmpty { nil } else {
        try RecordOrder(
          rowKeys, of: family.map { schema.entities[$0] }.filter { !$0.isAbstract },
          PredicateEnvironment(schema: schema, storeID: storeID, locale: locale))
      }
    ownBits = schema.entities.map { family.contains($0.index) ? read.ownBits(of: $0) : nil }
    related = read.related
    otherBits = schema.entities.map { $0.isAbstract ? 0 : read.otherBits(of: $0) }
    self.schema = schema
  }

  private static func reasonsToFetch(
    _ description: FetchDescription, _ keys: [BoundSortKey], _ read: PropertiesRead
  ) -> [String] {
    var reasons: [String] = []
    if description.fetchLimit > 0 || description.limitPerGroup != nil {
      reasons.append("it has a limit")
    }
    if description.fetchOffset > 0 { reasons.append("it has an offset") }
    if description.pageToken != nil { reasons.append("it has a page token") }
    if !description.includesPendingChanges { reasons.append("it excludes pending changes") }
    if read.isCapricious {
      reasons.append("it depends on the time, random numbers or a custom function")
    }
    if keys.contains(where: { $0.path?.leaf.isExternal ?? false }) {
      reasons.append("it sorts by binary values that are stored outside of records")
    }
    return reasons
  }

  /// Whether changes can only be applied by fetching again.
  var needsFetch: Bool { !reasonsToFetch.isEmpty }

  /// The properties that affect the results, by entity index. `nil` for entities that don't affect
  /// them.
  var masks: [UInt64?] {
    schema.entities.map { entity in
      let other = related.reduce(otherBits[entity.index]) { $0 | $1.bits(of: entity) }
      return ownBits[entity.index].map { $0 | other } ?? (other == 0 ? nil : other)
    }
  }

  /// Returns whether an object may have become a result, ceased to be one, or moved.
  func isConcerned(by candidate: ResultsCandidate) -> Bool {
    guard let bits = ownBits[candidate.entity.index] else { return false }
    return candidate.former == nil || candidate.present == nil || candidate.changed & bits != 0
  }

  /// Returns the predicate for records of one concrete entity, or `nil` if the request has none.
  func compile(
    for entity: EntitySchema, in context: ManagedObjectContext
  ) throws(ArborError) -> CompiledPredicate? {
    guard let predicate else { return nil }
    let bound = try PredicateBinder.bind(predicate, to: self.entity, in: context.session.schema)
    return try PredicateCompiler.compile(
      [bound.root], arguments: predicate.arguments, for: entity,
      environment: PredicateEnvironment(
        schema: context.session.schema, storeID: context.store.id, locale: context.session.locale,
        chargesWork: description.allowance.work != nil))
  }
}

extension ResultsShape {
  /// A description of how changes are applied.
  var explanation: String {
    guard reasonsToFetch.isEmpty else {
      return "Changes that may affect the request fetch it again, because "
        + "\(reasonsToFetch.joined(separator: " and "))."
    }
    var lines = ["Changes of \(entity.name) are applied one by one."]
    for path in related {
      guard let last = path.hops.last else { continue }
      lines.append(
        "Changes of \(schema.entities[last.destination].name) are applied to the objects that refer "
          + "to them by \(path.hops.map(\.name).joined(separator: "."))."
      )
    }
    let others = schema.entities.filter { otherBits[$0.index] != 0 }.map(\.name)
    if !others.isEmpty {
      lines.append(
        "Changes of \(others.joined(separator: ", ")) fetch the request again, because it reads them "
          + "through collections.")
    }
    return lines.joined(separator: "\n")
  }
}
