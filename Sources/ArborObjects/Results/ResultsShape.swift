internal import ArborModel
internal import ArborStore
internal import Foundation

/// What can be known of a request before it is fetched: which changes concern it, and how single
/// objects are evaluated and ordered.
struct ResultsShape {
  let entity: EntitySchema
  /// What is fetched: the section's key first, where there are sections.
  let description: FetchDescription
  let sectionPath: String?
  /// The order's first key, where it makes the sections.
  let sectionKey: BoundSortKey?
  /// The order of single records; nil where other objects decide it.
  let order: RecordOrder?
  /// Whether a change can only be taken in by fetching again: where the result is a part of a whole
  /// (a limit, also of groups, an offset), other objects decide the order, or the predicate has no
  /// lasting answer.
  let needsFetch: Bool
  /// Whether the predicate reads other objects than the one that it is evaluated for, or can take
  /// long.
  let needsResolver: Bool
  /// By the index of each concrete entity: the properties that decide whether an object is a result
  /// and where; nil where it is none in any case.
  let ownBits: [UInt64?]
  /// By the index of each entity: the properties that decide about other objects.
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
      needsResolver = !bound.dependencies.isEmpty || bound.dependencies.needsLimits
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

  /// What concerns the results, by the indexes of entities.
  var masks: [UInt64?] {
    zip(ownBits, otherBits).map { own, other in
      own.map { $0 | other } ?? (other == 0 ? nil : other)
    }
  }

  /// Whether an object may have become a result, or none, or have another index.
  func isConcerned(by candidate: ResultsCandidate) -> Bool {
    guard let bits = ownBits[candidate.entity.index] else { return false }
    return candidate.former == nil || candidate.present == nil || candidate.changed & bits != 0
  }

  /// The predicate for records of one concrete entity; nil where there is none.
  func compile(
    for entity: EntitySchema, in context: ManagedObjectContext
  ) throws(ArborError) -> CompiledPredicate? {
    guard let predicate else { return nil }
    let bound = try PredicateBinder.bind(predicate, to: self.entity, in: context.session.schema)
    return try PredicateCompiler.compile(
      [bound.root], arguments: predicate.arguments, for: entity,
      environment: PredicateEnvironment(
        schema: context.session.schema, storeID: context.store.id, locale: context.session.locale))
  }
}
