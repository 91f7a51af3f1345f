public import ArborJSON
import ArborModel
public import ArborObjects

/// Bringing objects into agreement with a payload.
extension ManagedObjectContext {
  /// Brings the objects of an entity into agreement with a payload, as a serializer says. Nothing
  /// is committed.
  ///
  /// Null does nothing. A list describes several objects, an object one. Uncommitted objects are
  /// matched too; all matches of the payload are looked up in one fetch for each entity and set of
  /// groupers.
  ///
  /// With `deleteMissing`, objects that no item of the payload has spoken of are deleted at the
  /// end: one that a list lacks and another one names stays.
  ///
  /// - Parameters:
  ///   - source: The payload.
  ///   - serializer: How it is understood.
  /// - Returns: What was done.
  /// - Throws: ``ArborError`` `malformedDocument` and `fileUnreadable`; `missingIdentity` if an item
  ///   lacks an identifier; if an item or the serializer does not fit the model, and what the store
  ///   reports. The context is then exactly as it was.
  /// - Complexity: Linear in the size of the payload; with `deleteMissing` also in the number of
  ///   objects within the groupers.
  @discardableResult
  public func sync(
    from source: JSONSource, using serializer: some SyncSerializer
  ) throws(ArborError) -> SyncReport {
    let limit = ExchangeLimit(self)
    try limit.checkNow()
    let document = try source.document(work: limit.work)
    let mapper = SyncMapper(self)
    let mapping = try mapper.mapping(for: serializer)
    let root = document.root
    guard root.kind != .null else { return SyncReport() }
    return try withSavepoint { () throws(ArborError) in
      let plan = ExchangePlan(self)
      let planner = ItemPlanner(plan, limit)
      let run = ExchangeRun(plan, in: self, limit)
      if mapping.rules.deletesMissing {
        let request = FetchRequest<ManagedObject>(
          entity: mapping.entity.name, predicate: mapping.rules.scope)
        try run.noteMissing(fetch(request), within: nil)
      }
      let isList = root.kind == .array
      try run.carryOut(planner.plan(root.elements ?? [root], mapping, isList: isList))
      try run.deleteMissing()
      run.counts.dropped = planner.droppedCount
      return SyncReport(run.counts)
    }
  }
}

/// Single objects from JSON whose keys are the names of attributes.
extension ManagedObjectContext {
  /// Inserts an object with the attributes that a JSON object names.
  ///
  /// ```swift
  /// let employee = try context.insert(Employee.self, json: ["employeeID": 7, "name": "Ada"])
  /// ```
  ///
  /// - Throws: ``ArborError`` `unknownName` for a key that is no attribute, `invalidDocument` for a
  ///   value that its attribute does not take. The context is then exactly as it was.
  @discardableResult
  public func insert<T: ManagedObject>(
    _ type: T.Type, json: JSONValue
  ) throws(ArborError) -> T {
    try insertOrUpdate(type, json: json, identifiers: [])
  }

  /// Updates the object that some attributes of a JSON object identify, or inserts one.
  ///
  /// - Parameter identifiers: The attributes that identify an object, all together.
  /// - Throws: ``ArborError`` as ``insert(_:json:)-(T.Type,_)``, and `missingIdentity` where the
  ///   JSON object lacks one of the identifiers.
  @discardableResult
  public func insertOrUpdate<T: ManagedObject>(
    _ type: T.Type, json: JSONValue, identifiers: [String]
  ) throws(ArborError) -> T {
    let name = try session.entityName(of: type)
    // The binding of the type makes objects of it; see Session.entityName(of:).
    guard let object = try insertOrUpdate(name, json: json, identifiers: identifiers) as? T else {
      throw ArborError(.invalidArgument, "\(name) is represented by another class than \(T.self).")
        .with(entity: name)
    }
    return object
  }

  /// Inserts an object of an entity, by its name, with the attributes that a JSON object names.
  ///
  /// ```swift
  /// let employee = try context.insert("Employee", json: ["employeeID": 7, "name": "Ada"])
  /// ```
  ///
  /// - Throws: ``ArborError`` as with a class, and `unknownName` for an entity that the model
  ///   lacks.
  @discardableResult
  public func insert(
    _ entityName: String, json: JSONValue
  ) throws(ArborError) -> ManagedObject {
    try insertOrUpdate(entityName, json: json, identifiers: [])
  }

  /// Updates the object of an entity, by its name, that some attributes of a JSON object identify,
  /// or inserts one.
  ///
  /// - Parameters:
  ///   - name: The entity.
  ///   - json: The attributes by their names.
  ///   - identifiers: The attributes that identify an object, all together.
  /// - Throws: ``ArborError`` as with a class, and `unknownName` for an entity that the model
  ///   lacks.
  @discardableResult
  public func insertOrUpdate(
    _ name: String, json: JSONValue, identifiers: [String]
  ) throws(ArborError) -> ManagedObject {
    guard let members = json.object else {
      throw ArborError(
        .invalidArgument, "An object of \(name) is made from a JSON object; write one."
      ).with(entity: name)
    }
    let serializer = VerbatimSerializer(
      entityName: name, identifiers: identifiers, keys: members.keys)
    let mapper = SyncMapper(self)
    let mapping = try mapper.mapping(for: serializer)
    let node = try JSONDocument(json.data()).root
    let object = try withSavepoint { () throws(ArborError) in
      let limit = ExchangeLimit(self)
      let plan = ExchangePlan(self)
      let items = try ItemPlanner(plan, limit).plan([node], mapping, isList: false)
      return try ExchangeRun(plan, in: self, limit).carryOut(items).first
    }
    guard let object else {
      throw ArborError(.invalidArgument, "The JSON object makes no \(name); write its attributes.")
        .with(entity: name)
    }
    return object
  }
}

/// Takes every key of an item for the attribute of its name.
private struct VerbatimSerializer: SyncSerializer {
  typealias Object = ManagedObject
  let entityName: String?
  let identifiers: [String]
  let keys: [String]
  let deleteMissing = false
  let strictTypes = true

  var mapping: SyncMapping {
    SyncMapping(
      Dictionary(
        (keys + identifiers).map { ($0, .value(SyncStep(stringLiteral: $0))) }
      ) { first, _ in first })
  }
  let absentKeys = SyncAbsentKeys.leave
}

extension PersistentStore {
  /// Brings the objects of an entity into agreement with a payload and commits, all of it or
  /// nothing. Contexts take the commit in at their next operation.
  ///
  /// Works in the store's background context, after what it was asked before; see
  /// ``ManagedObjectContext/sync(from:using:)``.
  ///
  /// ```swift
  /// let report = try await store.sync(from: .data(response), using: EmployeeSerializer())
  /// print("\(report.inserted) new, \(report.updated) changed, \(report.unchanged) as they were")
  /// ```
  ///
  /// - Returns: What was done.
  /// - Throws: ``ArborError`` as in a context, and as `commit()` does.
  @discardableResult
  public func sync(
    from source: JSONSource, using serializer: some SyncSerializer
  ) async throws -> SyncReport {
    try await performBackground { context in try context.sync(from: source, using: serializer) }
  }
}
