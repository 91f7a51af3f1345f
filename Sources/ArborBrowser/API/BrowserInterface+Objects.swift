internal import ArborJSON
internal import ArborModel
internal import ArborObjects
internal import Foundation

/// Requests for pages of objects, for single objects, and for their parts.
extension BrowserInterface {
  private static let largestPage = 500

  /// Returns a page of objects. Parameters: `entity`, and optionally `where`, `sort` once per key,
  /// `limit`, and either the `token` of the previous page or an `offset`.
  func objects(_ request: HTTPRequest) throws(ArborError) -> JSONValue {
    let entity = try entity(of: request)
    let context = makeContext()
    var wanted = try self.request(request, entity)
    wanted.fetchLimit = number("limit", of: request, atMost: Self.largestPage) ?? 100
    wanted.fetchOffset = number("offset", of: request, atMost: .max) ?? 0
    wanted.relationshipKeyPathsForPrefetching = entity.relationships
      .filter { !$0.isToMany && !$0.isTransient }.map { PropertyPath($0.name) }
    let began = ContinuousClock.now
    let page = try context.fetchPage(wanted, after: request.parameter("token"))
    let rows = try page.objects.map { (object) throws(ArborError) in try row(object, of: entity) }
    return [
      "rows": .array(rows), "next": page.next.map(JSONValue.string) ?? .null,
      "milliseconds": milliseconds(since: began),
    ]
  }

  func count(_ request: HTTPRequest) throws(ArborError) -> JSONValue {
    let entity = try entity(of: request)
    let began = ContinuousClock.now
    let count = try makeContext().count(self.request(request, entity))
    return ["count": JSONValue(count), "milliseconds": milliseconds(since: began)]
  }

  /// Returns the conditions that a predicate connects by AND, and the text that connects them.
  /// Parameters: `where`, and optionally `and`, a further predicate, and `without`, the positions of
  /// conditions to leave out.
  func conditions(_ request: HTTPRequest) throws(ArborError) -> JSONValue {
    func conditions(_ name: String) throws(ArborError) -> [String] {
      try predicate(request.parameters(name))?.conditions() ?? []
    }
    let left = Set(request.parameters("without").compactMap { Int($0) })
    var found = try conditions("where").enumerated().filter { !left.contains($0.offset) }
      .map(\.element)
    for further in try conditions("and") where !found.contains(further) { found.append(further) }
    return [
      "conditions": .array(found.map(JSONValue.string)),
      "where": .string(found.joined(separator: " AND ")),
    ]
  }

  /// Returns an object with all of its properties, and the first members of each to-many
  /// relationship.
  func object(_ request: HTTPRequest) throws(ArborError) -> JSONValue {
    // The object does not retain its context.
    let context = makeContext()
    defer { withExtendedLifetime(context) {} }
    let object = try context.existingObject(with: id(of: request))
    let entity = try schema.entity(object.entity.name)
    var attributes = JSONObject()
    for attribute in entity.attributes {
      attributes[attribute.name] = try json(
        object, attribute, maximumLength: ValueJSON.maximumLengthInObject)
    }
    var relationships = JSONObject()
    for relationship in entity.relationships where !relationship.isTransient {
      relationships[relationship.name] =
        relationship.isToMany
        ? try members(of: object, relationship.name, from: 0, count: 50)
        : link(try object.object(forKey: relationship.name))
    }
    return [
      "id": .string(ValueJSON.name(object.objectID)), "entity": .string(entity.name),
      "label": label(object), "attributes": .object(attributes),
      "relationships": .object(relationships),
    ]
  }

  /// Returns the members of a to-many relationship. Parameters: `limit` and `offset`.
  func members(_ request: HTTPRequest) throws(ArborError) -> JSONValue {
    let context = makeContext()
    defer { withExtendedLifetime(context) {} }
    let object = try context.existingObject(with: id(of: request))
    return try members(
      of: object, request.parameter("relationship") ?? "",
      from: number("offset", of: request, atMost: .max) ?? 0,
      count: number("limit", of: request, atMost: Self.largestPage) ?? 50)
  }

  /// Returns the bytes of a binary attribute as a download, so that the web browser does not render
  /// them.
  func binary(_ request: HTTPRequest) throws(ArborError) -> HTTPResponse {
    let id = try id(of: request)
    let name = request.parameter("attribute") ?? ""
    let context = makeContext()
    defer { withExtendedLifetime(context) {} }
    let object = try context.existingObject(with: id)
    let count = object.binaryLength(forKey: name) ?? 0
    guard count <= limits.binary else {
      throw ArborError(
        .limitExceeded,
        "The binary value has \(count) bytes, but the page shows at most \(limits.binary).")
    }
    guard case .binary(let data) = try object.value(forKey: name) else {
      throw ArborError(.typeMismatch, "\(id.entityName).\(name) is not a binary attribute.")
    }
    return HTTPResponse(
      contentType: "application/octet-stream",
      headers: [("Content-Disposition", "attachment; filename=\"value.bin\"")], body: Array(data))
  }

  // MARK: Request parameters

  func entity(of request: HTTPRequest) throws(ArborError) -> BrowsedSchema.Entity {
    try schema.entity(request.parameter("entity") ?? "")
  }

  /// Returns the fetch request for a request's entity, predicate and order.
  func request(
    _ request: HTTPRequest, _ entity: BrowsedSchema.Entity
  ) throws(ArborError) -> FetchRequest<ManagedObject> {
    var wanted = FetchRequest<ManagedObject>(entity: entity.name)
    wanted.predicate = try predicate(request.parameters("where"))
    wanted.sortKeys = request.parameters("sort").map { SortKey(stringLiteral: $0) }
    try wanted.description.checkExpressions(.untrusted)
    return wanted
  }

  func number(_ name: String, of request: HTTPRequest, atMost most: Int) -> Int? {
    request.parameter(name).flatMap(Int.init).flatMap { $0 < 0 ? nil : min($0, most) }
  }

  private func id(of request: HTTPRequest) throws(ArborError) -> ObjectID {
    try Self.id(request.parameter("id") ?? "", in: store)
  }

  /// Returns the ID for a name of the form `Entity/number`.
  static func id(_ name: String, in store: PersistentStore) throws(ArborError) -> ObjectID {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let number = UInt64(parts[1]) else {
      throw ArborError(
        .invalidArgument,
        "The object ID is malformed. Expected Entity/number.")
    }
    return try store.objectID(String(parts[0]), number: number)
  }

  func milliseconds(since began: ContinuousClock.Instant) -> JSONValue {
    Self.milliseconds(began.duration(to: .now))
  }

  /// Returns a duration in milliseconds, with two decimals.
  static func milliseconds(_ duration: Duration) -> JSONValue {
    let passed = duration / .microseconds(1)
    return JSONNumber((passed / 10).rounded() / 100).map(JSONValue.number) ?? .null
  }

  // MARK: Objects as JSON

  /// Returns a row: the object's name, then a value for each attribute and relationship of the
  /// requested entity. To-many relationships are represented by their number of members.
  private func row(
    _ object: ManagedObject, of entity: BrowsedSchema.Entity
  ) throws(ArborError) -> JSONValue {
    var values: [JSONValue] = [.string(ValueJSON.name(object.objectID))]
    for attribute in entity.attributes {
      values.append(try json(object, attribute, maximumLength: ValueJSON.maximumLengthInTable))
    }
    for relationship in entity.relationships {
      if relationship.isTransient {
        values.append(.null)
      } else if relationship.isToMany {
        values.append(["members": JSONValue(try object.objects(forKey: relationship.name).count())])
      } else {
        values.append(link(try object.object(forKey: relationship.name)))
      }
    }
    return .array(values)
  }

  private func json(
    _ object: ManagedObject, _ attribute: AttributeDescription, maximumLength: Int
  ) throws(ArborError) -> JSONValue {
    switch attribute.type {
    case .binary, .transformable:
      guard let count = object.binaryLength(forKey: attribute.name) else { return .null }
      // Large binaries are not read merely to determine their kind: in a table the limit is low,
      // for a single object it is that of the largest binary that can be shown.
      let most = maximumLength > ValueJSON.maximumLengthInTable ? limits.binary : 4096
      guard count <= most else { return ["binary": JSONValue(count)] }
      guard case .binary(let data) = try object.value(forKey: attribute.name) else { return .null }
      return ValueJSON.binary(count: count, head: data.prefix(4096))
    default:
      return json(
        try object.value(forKey: attribute.name), of: attribute.type, maximumLength: maximumLength)
    }
  }

  private func json(
    _ value: PropertyValue, of type: AttributeType, maximumLength: Int
  ) -> JSONValue {
    if type == .json { return ValueJSON.document(value, maximumLength: maximumLength) }
    guard case .composite(let name) = type, case .composite(let parts) = value,
      let composite = store.model.composites.first(where: { $0.name == name })
    else { return ValueJSON.json(value, maximumLength: maximumLength) }
    var shown: [String: JSONValue] = [:]
    for (name, part) in parts {
      let type = composite.attributes.first { $0.name == name }?.type ?? .undefined
      shown[name] = json(part, of: type, maximumLength: maximumLength)
    }
    return ["parts": ValueJSON.object(shown)]
  }

  private func members(
    of object: ManagedObject, _ name: String, from first: Int, count: Int
  ) throws(ArborError) -> JSONValue {
    let total = try object.objects(forKey: name).count()
    var members: [ManagedObject] = []
    if total > Self.maximumMembersRead,
      let request = try request(for: name, of: object, first, count)
    {
      members = try object.context?.fetch(request) ?? []
    } else {
      members = Array(try object.objects(forKey: name).fetch().dropFirst(first).prefix(count))
    }
    return ["count": JSONValue(total), "members": .array(members.map { link($0) })]
  }

  /// The number of members above which only the visible ones are fetched, by the inverse
  /// relationship and in the order of their IDs.
  private static var maximumMembersRead: Int { 5000 }

  private func request(
    for name: String, of object: ManagedObject, _ first: Int, _ count: Int
  ) throws(ArborError) -> FetchRequest<ManagedObject>? {
    let entity = try schema.entity(object.entity.name)
    guard let relationship = entity.relationships.first(where: { $0.name == name }),
      let inverse = relationship.inverse
    else { return nil }
    let form = schema.isKeptByMembers(relationship) ? "%K == %@" : "ANY %K == %@"
    var request = FetchRequest<ManagedObject>(entity: relationship.destination)
    request.predicate = try FetchPredicate(format: form, inverse, object.objectID)
    request.fetchOffset = first
    request.fetchLimit = max(1, count)
    return request
  }

  /// Returns a reference to an object, with its label.
  func link(_ object: ManagedObject?) -> JSONValue {
    guard let object else { return .null }
    return ["object": .string(ValueJSON.name(object.objectID)), "label": label(object)]
  }

  private func label(_ object: ManagedObject) -> JSONValue {
    guard let title = try? schema.entity(object.entity.name).title,
      let value = try? object.value(forKey: title)
    else { return .null }
    let text = value.isNull ? "" : "\(value)"
    return text.isEmpty ? .null : .string(String(text.prefix(80)))
  }
}
