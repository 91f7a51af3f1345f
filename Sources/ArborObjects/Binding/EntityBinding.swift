internal import ArborFoundation
internal import ArborLocks
internal import ArborModel
internal import ArborStore
internal import Logging

/// A property stored in the record and visible to users: an attribute or a to-one relationship.
struct RecordProperty {
  let name: String
  let field: RecordField
}

/// Creates and reads the objects of one entity: holds their class, and the locations of the class's
/// numbered properties in the entity's records.
///
/// Reading property *n* must cost only one load, so the locations are kept in immutable memory that
/// is allocated once.
///
/// `@unchecked` because of the pointers: their memory is written only in `init` and freed in
/// `deinit`.
final class EntityBinding: @unchecked Sendable {
  let entity: EntitySchema
  let schema: ModelSchema
  let storeID: UUID
  private let entityName: String
  /// A record of default values, for reads that fail.
  let template: RecordView
  /// Whether records have transient fields, which exist only in memory.
  let hasTransientFields: Bool
  let objectClass: ManagedObject.Type
  /// The most frequently called hooks that the class overrides.
  let hooks: OverriddenHooks
  /// The field of each attribute, in the class's numbering.
  let attributes: UnsafePointer<AttributeLocation>
  let attributeCount: Int
  /// The number of attributes that can be set on the fast path: ``attributeCount``, or 0 if one of
  /// them is derived, so that every write takes the slow path, which rejects it.
  let settableCount: Int
  /// The relationships in the class's numbering. Unretained; owned by ``entity``.
  private let numbered: UnsafePointer<Unmanaged<RelationshipSchema>>
  private let numberedCount: Int
  /// The field of each relationship's target, in the class's numbering. `nil` for to-many
  /// relationships.
  private let targets: UnsafePointer<RecordField?>
  /// The public properties stored in a record, attributes first.
  let recordProperties: [RecordProperty]
  /// The prepared rules for validation.
  let rules: EntityRules
  /// The trace that receives each property that is read. `nil` for the objects of a store.
  let trace: (any PropertyTrace)?
  /// Whether the context is notified of each property access and change.
  let isObserved: Bool
  /// Whether a read through an object without a context has been logged. Unused in a copy.
  private let hasLostRead = Atomic(false)
  /// The number of properties in the class's numbering, even if the fast path is disabled.
  private let slotCounts: (attributes: Int, relationships: Int)
  /// The session whose objects use this copy, set when one of them is removed because another
  /// commit has deleted it. Accessed only by the session's thread.
  weak var session: Session?
  /// The binding that owns the memory of this copy, or `nil` if this is not a copy.
  private let original: EntityBinding?

  /// The location of an attribute of a class.
  struct AttributeLocation {
    let field: RecordField
    /// The attribute's slot in the entity.
    let slot: Int
  }

  /// Binds a class.
  ///
  /// - Parameters:
  ///   - attributeSlots: The entity's slot for each attribute of the class.
  ///   - relationshipSlots: The entity's slot for each relationship of the class.
  init(
    _ entity: EntitySchema, in schema: ModelSchema, storeID: UUID,
    objectClass: ManagedObject.Type, attributeSlots: [Int], relationshipSlots: [Int],
    trace: (any PropertyTrace)? = nil
  ) {
    original = nil
    self.entity = entity
    self.schema = schema
    self.storeID = storeID
    entityName = entity.name
    self.objectClass = objectClass
    hooks = OverriddenHooks(calledFor: objectClass)
    self.trace = trace
    isObserved = false
    slotCounts = (attributeSlots.count, relationshipSlots.count)
    // For a traced object no number is in range, so every access takes the slow path for invalid
    // numbers, and the fast path needs no extra check.
    attributeCount = trace == nil ? attributeSlots.count : 0
    let derives = attributeSlots.contains { entity.attributes[$0].description.derivation != nil }
    settableCount = derives ? 0 : attributeCount
    numberedCount = trace == nil ? relationshipSlots.count : 0
    let defaults = entity.layout.template
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: max(defaults.count, 1), alignment: MemoryLayout<UInt64>.alignment)
    defaults.withUnsafeBytes { source in
      if let start = source.baseAddress {
        memory.copyMemory(from: start, byteCount: defaults.count)
      }
    }
    template = RecordView(base: memory, count: defaults.count)
    hasTransientFields = entity.layout.fields.contains(where: \.isTransient)
    numbered = Self.lasting(
      relationshipSlots.map { Unmanaged.passUnretained(entity.relationships[$0]) })
    targets = Self.lasting(relationshipSlots.map { entity.relationships[$0].field })
    recordProperties =
      entity.attributes.map { RecordProperty(name: $0.name, field: $0.field) }
      + entity.relationships.compactMap { relationship in
        relationship.isHidden
          ? nil : relationship.field.map { .init(name: relationship.name, field: $0) }
      }
    attributes = Self.lasting(
      attributeSlots.map { AttributeLocation(field: entity.attributes[$0].field, slot: $0) })
    rules = EntityRules(entity, recordProperties, in: schema.model)
  }

  /// Copies a store's binding for the objects of one session.
  ///
  /// Each object holds a reference to its binding. If sessions shared one, their threads would
  /// contend for its reference count.
  ///
  /// - Parameter isObserved: Whether the context is notified of each property access and change.
  init(copying other: EntityBinding, isObserved: Bool) {
    original = other
    entity = other.entity
    schema = other.schema
    storeID = other.storeID
    entityName = other.entityName
    template = other.template
    hasTransientFields = other.hasTransientFields
    objectClass = other.objectClass
    hooks = other.hooks
    trace = nil
    self.isObserved = isObserved
    slotCounts = other.slotCounts
    // As for a traced object.
    attributeCount = isObserved ? 0 : other.attributeCount
    settableCount = isObserved ? 0 : other.settableCount
    numberedCount = isObserved ? 0 : other.numberedCount
    numbered = other.numbered
    targets = other.targets
    recordProperties = other.recordProperties
    attributes = other.attributes
    rules = other.rules
  }

  deinit {
    guard original == nil else { return }
    template.base.deallocate()
    attributes.deallocate()
    numbered.deallocate()
    targets.deallocate()
  }

  /// Copies trivial elements to memory that is valid until it is deallocated.
  private static func lasting<T>(_ elements: [T]) -> UnsafePointer<T> {
    let memory = UnsafeMutablePointer<T>.allocate(capacity: max(elements.count, 1))
    elements.withUnsafeBufferPointer { buffer in
      if let base = buffer.baseAddress {
        memory.initialize(from: base, count: elements.count)
      }
    }
    return UnsafePointer(memory)
  }

  /// Returns the location of an attribute for reading it.
  @inline(__always)
  func attribute(_ slot: Int, of object: ManagedObject) -> AttributeLocation {
    // A single unsigned comparison also rejects negative slots.
    guard UInt(bitPattern: slot) < UInt(bitPattern: attributeCount) else {
      return unusualAttribute(slot, of: object)
    }
    return attributes[slot]
  }

  /// Returns the location of an attribute for writing it.
  @inline(__always)
  func attribute(_ slot: Int, changing object: ManagedObject) -> AttributeLocation {
    guard UInt(bitPattern: slot) < UInt(bitPattern: settableCount) else {
      return unusualAttribute(slot, changing: object)
    }
    return attributes[slot]
  }

  /// Returns the location of an attribute without accessing its value.
  @inline(never)
  func attribute(_ slot: Int) -> AttributeLocation {
    guard (0..<slotCounts.attributes).contains(slot) else { return tracedAttribute(slot) }
    return attributes[slot]
  }

  /// Returns the relationship with a number in the class's numbering.
  @inline(__always)
  func relationship(_ slot: Int) -> RelationshipSchema {
    guard UInt(bitPattern: slot) < UInt(bitPattern: numberedCount) else {
      return tracedRelationship(slot)
    }
    return numbered[slot]._withUnsafeGuaranteedRef { $0 }
  }

  /// Returns the relationship with a number in the class's numbering, for reading its members.
  @inline(__always)
  func relationship(_ slot: Int, of object: ManagedObject) -> RelationshipSchema {
    guard UInt(bitPattern: slot) < UInt(bitPattern: numberedCount) else {
      return unusualRelationship(slot, of: object)
    }
    return numbered[slot]._withUnsafeGuaranteedRef { $0 }
  }

  /// Returns the field of a relationship's target, for reading it. `nil` for to-many relationships.
  @inline(__always)
  func target(_ slot: Int, of object: ManagedObject) -> RecordField? {
    guard UInt(bitPattern: slot) < UInt(bitPattern: numberedCount) else {
      return unusualRelationship(slot, of: object).field
    }
    return targets[slot]
  }

  // MARK: Derived attributes, observed and traced objects

  @inline(never)
  private func unusualAttribute(_ slot: Int, of object: ManagedObject) -> AttributeLocation {
    guard isObserved, (0..<slotCounts.attributes).contains(slot) else {
      return tracedAttribute(slot)
    }
    object.session?.observation?.access(object, .attribute(attributes[slot].slot))
    return attributes[slot]
  }

  @inline(never)
  private func unusualAttribute(_ slot: Int, changing object: ManagedObject) -> AttributeLocation {
    guard trace == nil, (0..<slotCounts.attributes).contains(slot) else {
      return tracedAttribute(slot)
    }
    let attribute = entity.attributes[attributes[slot].slot]
    if let error = refusal(toSet: attribute) {
      stopProgram("\(objectClass) sets a derived attribute. \(error.message)")
    }
    if isObserved { object.session?.observation?.willChange(object, .attribute(attribute.slot)) }
    return attributes[slot]
  }

  /// Returns the error for setting a derived attribute, which the commit would overwrite. `nil` for
  /// other attributes.
  func refusal(toSet attribute: AttributeSchema) -> ArborError? {
    guard let derivation = attribute.description.derivation else { return nil }
    return ArborError(
      .notAllowed,
      "\(entity.name).\(attribute.name) is derived from “\(derivation)” and cannot be set. Change "
        + "the properties that it is derived from."
    ).with(entity: entity.name, keyPath: attribute.name)
  }

  @inline(never)
  private func unusualRelationship(_ slot: Int, of object: ManagedObject) -> RelationshipSchema {
    let relationship = tracedRelationship(slot)
    if isObserved { object.session?.observation?.access(object, relationship) }
    return relationship
  }

  @inline(never)
  private func tracedAttribute(_ slot: Int) -> AttributeLocation {
    guard let trace, trace.noteAttribute(slot) else {
      wrongSlot(slot, of: "attributes", slotCounts.attributes)
    }
    return attributes[slot]
  }

  @inline(never)
  private func tracedRelationship(_ slot: Int) -> RelationshipSchema {
    let isKnown =
      isObserved
      ? (0..<slotCounts.relationships).contains(slot) : trace?.noteRelationship(slot) ?? false
    guard isKnown else { wrongSlot(slot, of: "relationships", slotCounts.relationships) }
    return numbered[slot]._withUnsafeGuaranteedRef { $0 }
  }

  @inline(never)
  private func wrongSlot(_ slot: Int, of what: String, _ count: Int) -> Never {
    stopProgram(
      "\(objectClass) uses slot \(slot) of its \(what), but entity \(entity.name) has \(count), "
        + "numbered from 0 with inherited ones first. Number the accessors in the order of the "
        + "description.")
  }

  /// Creates an object of the entity's class with a record, or a fault.
  @inline(__always)
  func makeObject(
    in session: Session?, _ number: ObjectNumber, _ record: RecordView?, _ slab: RecordSlab?
  ) -> ManagedObject {
    objectClass.init(
      ObjectConstruction(
        session: session.map { Unmanaged.passUnretained($0) },
        binding: Unmanaged.passRetained(self), number: number, record: record,
        slab: slab.map { Unmanaged.passRetained($0) }))
  }

  /// Creates and registers objects of the entity's class with records in one slab.
  ///
  /// - Parameter objects: Uninitialized memory for as many objects as there are rows.
  func makeObjects(
    in session: Session, _ rows: ArraySlice<FetchedRow>, _ slab: RecordSlab,
    _ objects: UnsafeMutablePointer<ManagedObject>
  ) {
    // Retaining once per object would take as long as everything else.
    let heldBinding = BulkRetain.retain(self, times: rows.count)
    let heldSlab = BulkRetain.retain(slab, times: rows.count)
    // With few objects, the map is likely to be in the cache anyway.
    let lookahead = rows.count > 256 ? NumberMap.lookahead : rows.count
    let registry = session.registry
    var next = objects
    for index in rows.indices {
      if index + lookahead < rows.endIndex {
        registry.map.prefetch(rows[index + lookahead].number)
      }
      let row = rows[index]
      let object = objectClass.init(
        ObjectConstruction(
          session: Unmanaged.passUnretained(session), binding: heldBinding, number: row.number,
          record: row.record, slab: heldSlab))
      registry.registerNew(object)
      next.initialize(to: object)
      next += 1
    }
  }

  /// Returns the error for reading a property of an object without a context.
  ///
  /// - Parameter property: The property, or `nil` if unknown.
  func lostRead(
    _ property: String?, of number: ObjectNumber, _ state: ManagedObject.State
  ) -> ArborError {
    let id = objectID(number)
    let error = ArborError(
      .notAllowed,
      "\(property.map { "\(entityName).\($0) of " } ?? "")\(id) can't be read: \(state.reason). "
        + "Keep the context alive while its objects are in use, or fetch the object again by its "
        + "objectID."
    ).with(entity: entityName, objectID: id)
    return property.map { error.with(keyPath: $0) } ?? error
  }

  /// Logs that a nonthrowing accessor read a property of an object whose context is gone, once per
  /// entity of an open store.
  func noteLostRead(_ property: String?, of number: ObjectNumber) {
    guard !(original ?? self).hasLostRead.exchange(true, ordering: .acquiringAndReleasing) else {
      return
    }
    // Created here, because a program may configure logging after the library was first used.
    Logger(label: "ArborData.objects").warning(
      """
      \(lostRead(property, of: number, .forgotten).message) It reads as empty. Throwing accessors \
      such as objects(forKey:) throw this; it is logged once for each entity.
      """, metadata: ["entity": "\(entityName)", "object": "\(objectID(number))"])
  }

  @inline(__always)
  func objectID(_ number: ObjectNumber) -> ObjectID {
    ObjectID(storeID: storeID, entityName: entityName, number: number.sequence)
  }
}
