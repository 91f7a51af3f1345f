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
  /// The order of individual records, or `nil` if it depends on other objects.
  let order: RecordOrder?
  /// Whether changes can only be applied by fetching again, because the request has a limit (also
  /// per group), an offset or a page token, excludes pending changes, or isn't deterministic, or
  /// because its order depends on other objects.
  let needsFetch: Bool
  /// Whether the predicate reads objects other than the evaluated one, or can be expensive.
  let needsResolver: Bool
  /// The properties that determine whether an object is a result and at which position, by entity
  /// index. `nil` for entities whose objects can never be results.
  let ownBits: [UInt64?]
  /// The properties that affect whether other objects are results and at which position, by entity
  /// index.
  let otherBits: [UInt64]
  private let predicate: FetchPredicate?

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
    order = try RecordOrder(
      keys, of: family.map { schema.entities[$0] }.filter { !$0.isAbstract },
      PredicateEnvironment(schema: schema, storeID: storeID, locale: locale))
    needsFetch =
      description.fetchLimit > 0 || description.fetchOffset > 0 || description.pageToken != nil
      || group != nil || !description.includesPendingChanges || order == nil || read.isCapricious
    ownBits = schema.entities.map { family.contains($0.index) ? read.ownBits(of: $0) : nil }
    otherBits = schema.entities.map { $0.isAbstract ? 0 : read.otherBits(of: $0) }
  }

  /// The properties that affect the results, by entity index. `nil` for entities that don't affect
  /// them.
  var masks: [UInt64?] {
    zip(ownBits, otherBits).map { own, other in
      own.map { $0 | other } ?? (other == 0 ? nil : other)
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
