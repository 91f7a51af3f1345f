import ArborData
import ArborModel
import Foundation

/// A store, or a state of its contexts, whose answers must agree with the naive graph.
final class Probe {
  let name: String
  let context: ManagedObjectContext
  private let ids: ObjectIDs

  init(_ name: String, _ context: ManagedObjectContext, _ ids: ObjectIDs) {
    self.name = name
    self.context = context
    self.ids = ids
  }

  func id(_ key: Int) -> ObjectID { ids.id(key) }

  func key(_ id: ObjectID) -> Int { ids.key(id) }

  /// Returns the library's form of a request.
  func request(
    _ request: PlainRequest, in model: PlainModel, _ form: PredicateRenderer.Form, seed: UInt64
  ) throws -> FetchRequest<ManagedObject> {
    var fetch = FetchRequest<ManagedObject>(entity: model.entities[request.entity].name)
    fetch.predicate = try request.predicate.map {
      try PredicateRenderer.predicate($0, form, seed: seed, objectID: id)
    }
    fetch.sortKeys = request.sortKeys.map { sortKey($0, seed: seed) }
    fetch.limitPerGroup = request.group.map { group in
      GroupLimit(
        group.count, per: sortKey(group.key, seed: seed).keyPath,
        by: group.sortKeys.map { sortKey($0, seed: seed) })
    }
    fetch.fetchLimit = request.limit
    fetch.fetchOffset = request.offset
    fetch.includesSubentities = request.includesSubentities
    fetch.includesPendingChanges = request.includesPendingChanges
    return fetch
  }

  private func sortKey(_ key: PlainRequest.SortKey, seed: UInt64) -> SortKey {
    var options: SortKey.Options = []
    if key.foldsCase { options.insert(.caseInsensitive) }
    if key.foldsDiacritics { options.insert(.diacriticInsensitive) }
    if key.isLocalized { options.insert(.localized) }
    if key.isNumeric { options.insert(.numeric) }
    let text = key.term.map { PredicateRenderer.text($0, seed: seed, objectID: id) } ?? key.text
    return SortKey(text, isAscending: key.isAscending, options: options)
  }

  /// Returns the request as a query.
  func query(_ fetch: FetchRequest<ManagedObject>) -> ObjectQuery<ManagedObject> {
    var request = FetchRequest<ManagedObject>(entity: fetch.entity)
    request.limitPerGroup = fetch.limitPerGroup
    let query = context.objects(request).order(by: fetch.sortKeys).limit(fetch.fetchLimit)
      .offset(fetch.fetchOffset).includingSubentities(fetch.includesSubentities)
    return fetch.predicate.map { query.filter($0) } ?? query
  }

  /// Converts a value of the store to the naive graph's form.
  func plain(_ value: PropertyValue) -> PlainValue {
    switch value {
    case .null: .null
    case .boolean(let flag): .boolean(flag)
    case .integer(let number): .integer(number)
    case .double(let number): .double(number)
    case .decimal(let number): .decimal(number)
    case .string(let text): .text(text)
    case .date(let date): .date(date.timeIntervalSinceReferenceDate)
    case .binary(let data): .bytes(Array(data))
    case .uuid(let uuid): .uuid(uuid)
    case .uri(let url): .uri(url.absoluteString)
    case .objectID(let id): .object(key(id))
    case .list(let values): .list(values.map(plain))
    case .composite(let parts): .composite(parts.mapValues(plain).filter { !$0.value.isNull })
    }
  }
}

/// The IDs that a store assigned to the graph's objects.
final class ObjectIDs {
  private var ids: [Int: ObjectID] = [:]
  private var keys: [ObjectID: Int] = [:]

  func note(_ key: Int, _ id: ObjectID) {
    ids[key] = id
    keys[id] = key
  }

  /// Returns the ID of an object, or one that doesn't exist if the object wasn't inserted.
  func id(_ key: Int) -> ObjectID {
    ids[key] ?? ObjectID(storeID: UUID(), entityName: "None", number: 1)
  }

  /// Returns the key of an object; 0 for an unknown ID.
  func key(_ id: ObjectID) -> Int { keys[id] ?? 0 }
}
