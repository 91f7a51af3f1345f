public import ArborModel

extension ManagedObject {
  /// The object's permanent identity, which is assigned before its first commit and never changes.
  public final var objectID: ObjectID { binding.objectID(number) }

  /// The object's concrete entity with its own properties. Inherited properties are described by
  /// its parent entities.
  public final var entity: EntityDescription { binding.entity.description }

  /// The session the object belongs to. `nil` after the session has been deallocated or reset, or
  /// the object's deletion has been committed.
  @inline(__always)
  final var session: Session? {
    get { sessionReference?.takeUnretainedValue() }
    set { sessionReference = newValue.map { Unmanaged.passUnretained($0) } }
  }

  /// Detaches the object from its session.
  @inline(__always)
  final func detach(_ state: State) {
    sessionReference = nil
    // Most objects have no change, and the assignment costs a call even for `nil`.
    if change != nil { change = nil }
    self.state = state
  }

  /// The context the object belongs to. `nil` after the context has been deallocated or reset, or
  /// the object's deletion has been committed.
  public final var context: ManagedObjectContext? { session?.context }

  /// A Boolean value that indicates whether the object's insertion is pending.
  public final var isInserted: Bool {
    noteStateRead()
    return change?.kind == .inserted
  }

  /// A Boolean value that indicates whether the object was committed before and has pending changes
  /// of its properties or relationship members.
  public final var isUpdated: Bool {
    noteStateRead()
    guard let session else { return false }
    return switch change?.kind {
    case .updated: change?.isEffective == true || session.links.hasEdits(of: self)
    case nil: session.links.hasEdits(of: self)
    default: false
    }
  }

  /// A Boolean value that indicates whether the object's deletion is pending or was committed. A
  /// fault whose deletion hasn't been merged yet reports it once one of its values has been read.
  public final var isDeleted: Bool {
    noteStateRead()
    return isGone
  }

  /// The value of ``isDeleted``, which observers are not told about.
  final var isGone: Bool { change?.kind == .deleted || state.isOver || isMissing }

  /// Notes that an observer has read whether the object is inserted, updated or deleted.
  private final func noteStateRead() {
    if binding.isObserved { session?.observation?.accessState(self) }
  }

  /// Whether the object didn't exist when its record was last to be loaded.
  final var isMissing: Bool { state == .missing && base == nil }

  /// A Boolean value that indicates whether the object's values have yet to be loaded from the
  /// store.
  public final var isFault: Bool { base == nil }

  /// A Boolean value that indicates whether a commit of the context would write the object. It is
  /// `false` if the values were changed back to the committed ones.
  public final var hasChanges: Bool {
    noteStateRead()
    return change?.isEffective == true || session?.links.hasEdits(of: self) == true
  }

  /// Returns the values that differ from the committed ones, by property name, without derived
  /// attributes. For an inserted object, these are all non-`nil` values.
  ///
  /// To-many relationships with changed members are included as lists of IDs.
  public final func changedValues() -> [String: PropertyValue] {
    guard let session else { return [:] }
    var values: [String: PropertyValue] = [:]
    if let change, let current = heldRecord {
      for property in binding.recordProperties
      where !property.field.isDerived
        && (change.committed?.differs(from: current, property.field)
          ?? !current.isNull(property.field))
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

  /// Returns the last committed or fetched values, by property name, without pending changes.
  ///
  /// - Parameter keys: The attributes and to-one relationships to return, or `nil` for all. Other
  ///   names are ignored.
  /// - Returns: The values. Empty if the object was never committed.
  public final func committedValues(
    for keys: [PropertyPath]? = nil
  ) -> [String: PropertyValue] {
    let keys = keys?.map(\.keyPath)
    guard let change else { return values(in: currentRecord, for: keys) }
    return change.committed.map { values(in: $0, for: keys) } ?? [:]
  }

  /// Returns the value of a field, with references as object IDs.
  final func fieldValue(_ property: RecordProperty, in record: RecordView) -> PropertyValue {
    guard case .reference = property.field.kind else {
      return value(of: property.field, in: record)
    }
    return record.reference(property.field).map { .objectID(id(of: $0)) } ?? .null
  }

  /// Returns the public ID of an object of the same store.
  final func id(of target: ObjectNumber) -> ObjectID {
    ObjectID(
      storeID: binding.storeID, entityName: binding.schema.entity(of: target)?.name ?? "",
      number: target.sequence)
  }
}
