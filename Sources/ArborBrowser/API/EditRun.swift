internal import ArborJSON
internal import ArborModel
internal import ArborObjects

/// A list of edits that is applied to a context. Collects all violations.
struct EditRun {
  /// A problem with an edit or one of its properties.
  struct Violation {
    /// The position of the edit, or `nil` if no edit is the cause.
    let edit: Int?
    let property: String?
    let error: ArborError

    var json: JSONValue {
      [
        "edit": edit.map { JSONValue($0) } ?? .null,
        "property": property.map(JSONValue.string) ?? .null,
        "message": .string(ToolWording.text(error.message)),
      ]
    }
  }

  /// The error for a list of edits that cannot be applied as a whole.
  struct Failure: Error {
    let violations: [Violation]

    /// A single error that represents all violations.
    var error: ArborError {
      guard violations.count > 1 else {
        return violations.first?.error ?? ArborError(.validation, "The changes are not valid.")
      }
      return ArborError(
        .validation,
        "The changes violate \(violations.count) rules. Correct or remove the changes.")
    }
  }

  private let store: PersistentStore
  private let schema: BrowsedSchema
  private let context: ManagedObjectContext
  private let edits: [JSONValue]
  private var objects: [ManagedObject?] = []
  private var inserted: [String: ManagedObject] = [:]
  private(set) var violations: [Violation] = []

  /// Applies edits to a context that has no uncommitted changes.
  ///
  /// - Throws: Any error from the store, such as `corrupted`. Invalid edits are violations.
  init(
    _ edits: [JSONValue], _ store: PersistentStore, _ schema: BrowsedSchema,
    in context: ManagedObjectContext
  ) throws(ArborError) {
    self.edits = edits
    self.store = store
    self.schema = schema
    self.context = context
    // All objects are created first, so that any two of them can be linked.
    for place in edits.indices {
      objects.append(nil)
      try attempt(place, nil) { (run) throws(ArborError) in
        run.objects[place] = try run.object(of: edits[place])
      }
    }
    for (place, object) in objects.enumerated() {
      guard let object, edits[place]["op"]?.string != "delete" else { continue }
      for (property, value) in edits[place]["values"]?.object ?? [:] {
        try attempt(place, property) { (run) throws(ArborError) in
          try run.set(property, to: value, of: object)
        }
      }
    }
    for (edit, object) in zip(edits, objects) where edit["op"]?.string == "delete" {
      if let object { context.delete(object) }
    }
  }

  /// Validates the changes as a commit would, and adds the violations.
  ///
  /// - Throws: Any error from the store. Violations of the model's rules are not thrown.
  mutating func validate() throws(ArborError) {
    do throws(ArborError) { try context.validate() } catch {
      guard Self.isViolation(error) else { throw error }
      for each in error.violations.isEmpty ? [error] : error.violations {
        let place = objects.firstIndex { $0 != nil && $0?.objectID == each.objectID }
        add(each, place, each.keyPath)
      }
    }
  }

  /// Returns the changes, or throws a ``Failure`` with every violation.
  func changes() throws -> ChangeList {
    guard violations.isEmpty else { throw Failure(violations: violations) }
    let names = inserted.reduce(into: [:]) { $0[$1.value.objectID] = $1.key }
    return try ChangeList(
      context, schema, names: names, edited: Set(objects.compactMap { $0?.objectID }))
  }

  // MARK: Applying

  private mutating func object(of edit: JSONValue) throws(ArborError) -> ManagedObject {
    switch edit["op"]?.string {
    case "insert":
      let object = try context.insert(schema.entity(edit["entity"]?.string ?? "").name)
      inserted[edit["ref"]?.string ?? "new \(inserted.count + 1)"] = object
      return object
    case "update", "delete":
      return try context.existingObject(
        with: BrowserInterface.id(edit["id"]?.string ?? "", in: store))
    default:
      throw ArborError(
        .invalidDocument,
        "An edit must be \"insert\", \"update\" or \"delete\".")
    }
  }

  private func set(
    _ property: String, to value: JSONValue, of object: ManagedObject
  ) throws(ArborError) {
    let entity = try schema.entity(object.entity.name)
    if let attribute = entity.attributes.first(where: { $0.name == property }) {
      var typed = TypedText(
        entity: entity.name, attribute: attribute, composites: store.model.composites)
      if case .composite = attribute.type { typed.current = try object.value(forKey: property) }
      try object.setValue(typed.value(of: value), forKey: property)
    } else if entity.relationships.contains(where: { $0.name == property && $0.isToMany }) {
      try setMembers(value, of: object.objects(forKey: property), object)
    } else {
      try object.setObject(target(value, object), forKey: property)
    }
  }

  /// Replaces the members with a list, or adds and removes members: `{"add": […], "remove": […]}`.
  private func setMembers(
    _ value: JSONValue, of members: RelatedObjects, _ object: ManagedObject
  ) throws(ArborError) {
    guard let changes = value.object else {
      return try members.replaceAll(with: targets(value, object))
    }
    for member in try targets(changes["remove"], object) { try members.remove(member) }
    for member in try targets(changes["add"], object) { try members.insert(member) }
  }

  private func targets(
    _ names: JSONValue?, _ object: ManagedObject
  ) throws(ArborError) -> [ManagedObject] {
    var targets: [ManagedObject] = []
    for name in names?.array ?? [] {
      if let target = try target(name, object) { targets.append(target) }
    }
    return targets
  }

  /// Returns the object with a name: one of the store, or one inserted by the same edits. Returns
  /// `nil` if the value isn't a name.
  private func target(
    _ value: JSONValue, _ object: ManagedObject
  ) throws(ArborError) -> ManagedObject? {
    guard let name = value.string, !name.isEmpty else { return nil }
    if let object = inserted[name] { return object }
    return try object.context?.existingObject(with: BrowserInterface.id(name, in: store))
  }

  // MARK: Gathering

  private mutating func attempt(
    _ place: Int, _ property: String?, _ work: (inout EditRun) throws(ArborError) -> Void
  ) throws(ArborError) {
    do throws(ArborError) { try work(&self) } catch {
      guard Self.isViolation(error) else { throw error }
      for each in error.violations.isEmpty ? [error] : error.violations {
        add(each, place, property == nil ? nil : each.keyPath ?? property)
      }
    }
  }

  /// Adds a violation, unless the same property already has one, of which it may be the effect.
  private mutating func add(_ error: ArborError, _ place: Int?, _ property: String?) {
    let isKnown = violations.contains { known in
      guard known.edit == place, let name = known.property, let property else { return false }
      return name == property || name.hasPrefix(property + ".")
    }
    if !isKnown { violations.append(Violation(edit: place, property: property, error: error)) }
  }

  private static func isViolation(_ error: ArborError) -> Bool {
    [.badRequest, .conflict, .notFound].contains(BrowserInterface.status(of: error))
  }
}
