internal import ArborJSON
internal import ArborModel
internal import ArborObjects
internal import Foundation

/// A look-up of typed text that finds entities, objects by ID or unique value, and indexed text.
///
/// If it is restricted to an entity, it finds only objects, and also finds them by their labels, as
/// required for choosing a relationship's target.
struct StoreSearch {
  private static let maximumHitsPerKind = 8
  /// The number of objects above which labels are not searched, unless they are indexed.
  private static let maximumScannedObjects = 50_000
  private static let maximumSnippetLength = 240

  private let interface: BrowserInterface
  private let context: ManagedObjectContext
  private let text: String
  private let scope: BrowsedSchema.Entity?
  /// The entities whose unique attributes and indexes are used, and the entity searched with each.
  private let places: [(declaring: BrowsedSchema.Entity, searched: String)]
  private var results: [JSONValue] = []
  private var found: Set<ObjectID> = []
  private var problems: [String] = []

  init(_ interface: BrowserInterface, _ text: String, in scope: BrowsedSchema.Entity?) {
    self.interface = interface
    self.text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    self.scope = scope
    places = Self.places(in: scope, interface)
    context = interface.makeContext()
  }

  /// Returns all entities, or the given one with its ancestors, whose indexes include its objects,
  /// and its subentities.
  private static func places(
    in scope: BrowsedSchema.Entity?, _ interface: BrowserInterface
  ) -> [(declaring: BrowsedSchema.Entity, searched: String)] {
    let model = interface.store.model
    let ancestors = Set(scope.map { model.lineage(of: $0.description).map(\.name) } ?? [])
    return interface.schema.entities.compactMap { entity in
      guard let scope else { return (entity, entity.name) }
      if ancestors.contains(entity.name) { return (entity, scope.name) }
      let isSubentity = model.lineage(of: entity.description).contains { $0.name == scope.name }
      return isSubentity ? (entity, entity.name) : nil
    }
  }

  /// Runs all look-ups and returns their results, with the problems of those that failed.
  ///
  /// - Throws: `ArborError` if the store cannot be read.
  mutating func answer() throws(ArborError) -> JSONValue {
    if text.isEmpty {
      if let scope { try addFirst(of: scope) }
    } else {
      if scope == nil { addEntities() }
      try addObjectsByID()
      try attempt { (search) throws(ArborError) in try search.addUniqueValues() }
      if let scope {
        try attempt { (search) throws(ArborError) in try search.addLabels(of: scope) }
      }
      try addIndexedText()
    }
    return ["results": .array(results), "problems": .array(problems.map(JSONValue.string))]
  }

  // MARK: Entities and IDs

  private mutating func addEntities() {
    let wanted = text.lowercased()
    let names = interface.schema.entities.map(\.name).filter { $0.lowercased().hasPrefix(wanted) }
    for name in names.prefix(Self.maximumHitsPerKind) {
      results.append(["kind": "entity", "entity": .string(name)])
    }
  }

  /// Adds the object with the ID `Entity/number` or, for a number alone, the objects of all
  /// entities with that number.
  private mutating func addObjectsByID() throws(ArborError) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let last = parts.last, let number = UInt64(last) else { return }
    let name = parts.count == 2 ? parts[0].lowercased() : nil
    for entity in places.map(\.declaring) where !entity.description.isAbstract {
      if let name, entity.name.lowercased() != name { continue }
      let id = try interface.store.objectID(entity.name, number: number)
      guard let object = try context.objectIfThere(id) else { continue }
      if places.contains(where: { $0.searched == object.entity.name }) { add("object", object) }
    }
  }

  // MARK: Values

  /// Adds objects with a unique attribute that equals the text or, for strings, begins with it.
  private mutating func addUniqueValues() throws(ArborError) {
    for (entity, attribute) in uniqueAttributes() {
      let typed = TypedText(entity: entity, attribute: attribute)
      guard let value = try? typed.value(of: .string(text)), !value.isNull else { continue }
      let form = attribute.type == .string ? "%K BEGINSWITH %@" : "%K == %@"
      let predicate = try FetchPredicate(format: form, attribute.name, value)
      try addObjects("unique", of: entity, predicate, property: attribute.name)
    }
  }

  /// Returns each unique attribute with the entity whose objects are searched.
  private func uniqueAttributes() -> [(String, AttributeDescription)] {
    places.flatMap { place in
      let description = place.declaring.description
      let indexed = description.fetchIndexes
        .filter { $0.isUnique && $0.partialIndexPredicate == nil }
        .map { $0.elements.map(\.property) }
      let alone = (description.uniquenessConstraints + indexed).filter { $0.count == 1 }
      let names = Set(alone.joined())
      return place.declaring.attributes.filter { names.contains($0.name) }
        .map { (place.searched, $0) }
    }
  }

  /// Adds objects whose label contains the text.
  private mutating func addLabels(of entity: BrowsedSchema.Entity) throws(ArborError) {
    guard let title = entity.attributes.first(where: { $0.name == entity.title }),
      title.type == .string
    else { return }
    let count = try context.count(FetchRequest<ManagedObject>(entity: entity.name))
    guard count <= Self.maximumScannedObjects || title.isIndexed else { return }
    let form = count <= Self.maximumScannedObjects ? "%K CONTAINS[cd] %@" : "%K BEGINSWITH %@"
    let predicate = try FetchPredicate(format: form, title.name, text)
    try addObjects("object", of: entity.name, predicate, property: nil)
  }

  private mutating func addFirst(of entity: BrowsedSchema.Entity) throws(ArborError) {
    try addObjects("object", of: entity.name, nil, property: nil)
  }

  private mutating func addObjects(
    _ kind: String, of entity: String, _ predicate: FetchPredicate?, property: String?
  ) throws(ArborError) {
    var request = FetchRequest<ManagedObject>(entity: entity, predicate: predicate)
    request.fetchLimit = Self.maximumHitsPerKind
    for object in try context.fetch(request) {
      var details: JSONObject = [:]
      if let property {
        details["property"] = .string(property)
        details["value"] = ValueJSON.json(
          try object.value(forKey: property), maximumLength: ValueJSON.maximumLengthInTable)
      }
      add(kind, object, details)
    }
  }

  // MARK: Indexed text

  /// Adds the best matches of each full-text index. If one index fails, the others are still
  /// searched.
  private mutating func addIndexedText() throws(ArborError) {
    for place in places {
      for index in place.declaring.description.fetchIndexes where index.isOfWords {
        try attempt { (search) throws(ArborError) in
          try search.addHits(in: index.name, of: place.searched)
        }
      }
    }
  }

  private mutating func addHits(in index: String, of entity: String) throws(ArborError) {
    let hits = try context.search(entity, query, in: index, limit: Self.maximumHitsPerKind)
    for hit in hits {
      add("text", hit.object, ["snippet": hit.snippet(words: 16).map(Self.json) ?? .null])
    }
  }

  /// The text as a full-text query. The word being typed matches as a prefix.
  private var query: String {
    let last = text.split(separator: " ").last ?? ""
    let isPlain = last.count > 2 && last.allSatisfy { $0.isLetter || $0.isNumber }
    return isPlain && !text.contains("\"") ? text + "*" : text
  }

  /// Returns the parts of a snippet. Those at odd positions are matches.
  private static func json(_ snippet: SearchSnippet) -> JSONValue {
    var parts = [snippet.hasMoreBefore ? "…" : ""]
    var start = snippet.text.startIndex
    for match in snippet.matches {
      parts[parts.count - 1] += snippet.text[start..<match.lowerBound]
      parts += [String(snippet.text[match]), ""]
      start = match.upperBound
    }
    parts[parts.count - 1] += snippet.text[start...] + (snippet.hasMoreBehind ? "…" : "")
    return .array(
      parts.map {
        .string(
          $0.count > maximumSnippetLength ? String($0.prefix(maximumSnippetLength)) + "…" : $0)
      })
  }

  // MARK: Gathering

  private mutating func add(_ kind: String, _ object: ManagedObject, _ details: JSONObject = [:]) {
    guard found.insert(object.objectID).inserted else { return }
    var result: JSONObject = ["kind": .string(kind)]
    for (name, value) in interface.link(object).object ?? [:] { result[name] = value }
    for (name, value) in details { result[name] = value }
    results.append(.object(result))
  }

  /// Runs one look-up and records its error. Throws if the store cannot be read.
  private mutating func attempt(
    _ look: (inout StoreSearch) throws(ArborError) -> Void
  ) throws(ArborError) {
    do throws(ArborError) { try look(&self) } catch {
      if BrowserInterface.status(of: error) == .failed { throw error }
      let message = ToolWording.text(error.message)
      if !problems.contains(message) { problems.append(message) }
    }
  }
}

extension BrowserInterface {
  /// Returns the search results for typed text. Parameters: `text`, and optionally `entity`.
  func search(_ request: HTTPRequest) throws(ArborError) -> JSONValue {
    let scope = try request.parameter("entity").map { (name) throws(ArborError) in
      try schema.entity(name)
    }
    var search = StoreSearch(self, request.parameter("text") ?? "", in: scope)
    return try search.answer()
  }
}
