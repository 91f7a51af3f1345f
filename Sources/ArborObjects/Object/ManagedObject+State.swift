public import ArborModel

extension ManagedObject {
  /// The object's permanent identity, which exists before its first commit and never changes.
  public final var objectID: ObjectID { binding.objectID(number) }

  /// The object's entity: the concrete one, with its own properties; inherited ones are described
  /// at its parents.
  public final var entity: EntityDescription { binding.entity.description }

  /// The session that the object belongs to; nil once that has gone or was reset, and for an object
  /// whose deletion was committed.
  @inline(__always)
  final var session: Session? {
    get { sessionReference?.takeUnretainedValue() }
    set { sessionReference = newValue.map { Unmanaged.passUnretained($0) } }
  }

  /// Takes the object away from its session.
  @inline(__always)
  final func detach(_ state: State) {
    sessionReference = nil
    // Most have none, and setting it costs a call even then.
    if change != nil { change = nil }
    self.state = state
  }

  /// The context the object belongs to; nil once that has gone or was reset, and for an object
  /// whose deletion was committed.
  public final var context: ManagedObjectContext? { session?.context }

  /// Whether the object waits for its first commit.
  public final var isInserted: Bool { change?.kind == .inserted }

  /// Whether the object was committed before and has changes, in its properties or among the
  /// members of its relationships, that wait for a commit.
  public final var isUpdated: Bool {
    guard let session else { return false }
    return switch change?.kind {
    case .updated: true
    case nil: session.links.hasEdits(of: self)
    default: false
    }
  }

  /// Whether the object's deletion waits for a commit, or was committed.
  public final var isDeleted: Bool { change?.kind == .deleted || state == .gone }

  /// Whether the object's values have yet to be read from the store.
  public final var isFault: Bool { base == nil }

  /// Whether a commit of the context would write the object.
  public final var hasChanges: Bool {
    change != nil || (session?.links.hasEdits(of: self) ?? false)
  }

  /// The values that differ from the committed ones, by property; of an inserted object, those that
  /// differ from nil.
  ///
  /// To-many relationships whose members changed are among them, as lists of IDs.
  public final func changedValues() -> [String: PropertyValue] {
    guard let session else { return [:] }
    var values: [String: PropertyValue] = [:]
    if let change, let current = heldRecord {
      for property in binding.recordProperties
      where change.committed?.differs(from: current, property.field)
        ?? !current.isNull(property.field)
      {
        values[property.name] = fieldValue(property, in: current)
      }
    }
    for relationship in binding.entity.relationships
    where relationship.isToMany && !relationship.isHidden
      && session.links.hasEdits(of: self, relationship)
    {
      values[relationship.name] = .list(
        session.members(of: self, relationship).map { .objectID(session.objectID($0)) })
    }
    return values
  }

  /// The values as last committed or fetched, by property, without the changes of the context.
  ///
  /// - Parameter keys: The attributes and to-one relationships asked for; nil for all. Other names
  ///   are left out.
  /// - Returns: Nothing for an object that was never committed.
  public final func committedValues(
    for keys: [PropertyPath]? = nil
  ) -> [String: PropertyValue] {
    let keys = keys?.map(\.keyPath)
    guard let change else { return values(in: currentRecord, for: keys) }
    return change.committed.map { values(in: $0, for: keys) } ?? [:]
  }

  /// The value of a field, references as object IDs.
  final func fieldValue(_ property: RecordProperty, in record: RecordView) -> PropertyValue {
    guard case .reference = property.field.kind else {
      return value(of: property.field, in: record)
    }
    return record.reference(property.field).map { .objectID(id(of: $0)) } ?? .null
  }

  /// The public identity of an object of the same store.
  final func id(of target: ObjectNumber) -> ObjectID {
    ObjectID(
      storeID: binding.storeID, entityName: binding.schema.entity(of: target)?.name ?? "",
      number: target.sequence)
  }
}
