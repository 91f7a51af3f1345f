public import ArborModel

/// Access to values by name, for models without classes.
extension ManagedObject {
  /// The value of a property: an attribute's value, the object ID of a to-one relationship, or the
  /// list of IDs of a to-many relationship.
  ///
  /// An unknown name or a value of the wrong type is a programming error, like an index out of
  /// bounds, and traps. ``value(forKey:)`` and ``setValue(_:forKey:)-(PropertyValue,_)`` throw
  /// instead. NaN and floating-point numbers that exceed the attribute's range are rejected by the
  /// commit.
  ///
  /// ```swift
  /// employee["age"] = 41
  /// if employee["name"] == "Mary" { … }
  /// ```
  public final subscript(key: String) -> PropertyValue {
    get { currentValue(of: orStop { () throws(ArborError) in try property(key) }) }
    set {
      if case .attribute(let attribute)? = binding.entity.property(named: key), session != nil,
        binding.refusal(toSet: attribute) == nil, setUnstorable(newValue, of: attribute)
      {
        return
      }
      orRefuse { () throws(ArborError) in try set(newValue, forKey: key) }
    }
  }

  /// The value of an attribute as a Swift type: `let age: Int = employee["age"]`.
  ///
  /// Traps if the value has another type, or if it is `nil` and the type isn't optional.
  @_disfavoredOverload
  public final subscript<T: AttributeValue>(key: String) -> T {
    get {
      let value = self[key] as PropertyValue
      guard let typed = T.fromValue(value) else {
        stopProgram(
          "\(binding.entity.name).\(key) holds \(value.isNull ? "nil" : "a value of another type")"
            + " and cannot be read as \(T.self).")
      }
      return typed
    }
    set { self[key] = newValue.predicateValue }
  }

  /// The object of a to-one relationship.
  @_disfavoredOverload
  public final subscript(key: String) -> ManagedObject? {
    get { object(of: orStop { () throws(ArborError) in try relationship(key, isToMany: false) }) }
    set {
      orRefuse { () throws(ArborError) in
        try setObject(newValue, of: relationship(key, isToMany: false))
      }
    }
  }

  /// The objects of a to-many relationship, in their order if it is ordered, otherwise sorted by
  /// ID.
  @_disfavoredOverload
  public final subscript(key: String) -> [ManagedObject] {
    get { objects(of: orStop { () throws(ArborError) in try relationship(key, isToMany: true) }) }
    set {
      orRefuse { () throws(ArborError) in
        try setObjects(newValue, of: relationship(key, isToMany: true))
      }
    }
  }

  /// Returns the result of `body`, or traps with the message of its error.
  final func orStop<R>(_ body: () throws(ArborError) -> R) -> R {
    do throws(ArborError) { return try body() } catch { stopProgram(error.message) }
  }

  /// Changes the object, or traps with the message of an error, unless its cause is that another
  /// commit deleted an object. The next throwing operation then throws.
  final func orRefuse(_ change: () throws(ArborError) -> Void) {
    do throws(ArborError) { try change() } catch { refuse(error) }
  }

  /// Refuses a change. See ``orRefuse(_:)``.
  final func refuse(_ error: ArborError) {
    guard error.code == .objectNotFound else { stopProgram(error.message) }
    (session ?? binding.session)?.noteRefused(error)
  }

  /// Returns the value of a property. Relationships are returned as object IDs.
  ///
  /// - Throws: ``ArborError``: `unknownName` if the property doesn't exist; `notAllowed` if the
  ///   object has no context and doesn't hold the value; any error from the store if the value has
  ///   to be read.
  public final func value(forKey key: String) throws(ArborError) -> PropertyValue {
    let property = try property(key)
    try requireReadable(property)
    return try reading { currentValue(of: property) }
  }

  /// Returns the value of a property, for nonthrowing accessors.
  private final func currentValue(of property: PropertySchema) -> PropertyValue {
    switch property {
    case .attribute(let attribute):
      if binding.isObserved { session?.observation?.access(self, .attribute(attribute.slot)) }
      return value(of: attribute.field, in: currentRecord)
    case .relationship(let relationship):
      noteAccess(relationship)
      guard relationship.isToMany else {
        return target(of: relationship).map { .objectID(id(of: $0)) } ?? .null
      }
      guard let session else {
        noteLostRead(relationship.name)
        return .list([])
      }
      return .list(session.members(of: self, relationship).map { .objectID(session.objectID($0)) })
    }
  }

  /// Sets a property. Relationships accept an object ID or a list of object IDs.
  ///
  /// - Throws: ``ArborError``: `unknownName` if the property doesn't exist; `typeMismatch` if the
  ///   value doesn't fit the property; `validation` for NaN; `notAllowed` if the attribute is
  ///   derived or the object can no longer be changed; `objectNotFound` if another commit has
  ///   deleted the object.
  public final func setValue(_ value: PropertyValue, forKey key: String) throws(ArborError) {
    try changing { () throws(ArborError) in try set(value, forKey: key) }
  }

  /// Sets a property without throwing errors from the store.
  private final func set(_ value: PropertyValue, forKey key: String) throws(ArborError) {
    switch try property(key) {
    case .attribute(let attribute): try setValue(value, of: attribute)
    case .relationship(let relationship):
      let session = try requireSession()
      switch value {
      case .null where relationship.isToMany: try setObjects([], of: relationship)
      case .null: try setObject(nil, of: relationship)
      case .objectID(let id) where !relationship.isToMany:
        try setObject(session.object(of: id), of: relationship)
      case .list(let values) where relationship.isToMany:
        var members: [ManagedObject] = []
        for value in values {
          guard case .objectID(let id) = value else { throw mismatch(key, value) }
          members.append(try session.object(of: id))
        }
        try setObjects(members, of: relationship)
      default: throw mismatch(key, value)
      }
    }
  }

  /// Sets an attribute to a Swift value.
  ///
  /// - Throws: The same errors as the overload that takes a ``PropertyValue``.
  @_disfavoredOverload
  public final func setValue<T: AttributeValue>(_ value: T, forKey key: String) throws(ArborError) {
    try setValue(value.predicateValue, forKey: key)
  }

  /// Sets a number that no attribute can store, so that the commit rejects it.
  ///
  /// - Returns: Whether the value is such a number and the attribute is numeric.
  private final func setUnstorable(_ value: PropertyValue, of attribute: AttributeSchema) -> Bool {
    var isUnstorable = value.containsNaN
    if case .double(let number) = value, !isUnstorable,
      attribute.field.kind == .float || !number.isFinite && attribute.field.kind != .tagged
    {
      isUnstorable = attribute.description.type.fitting(value) == nil
    }
    guard isUnstorable else { return false }
    if binding.isObserved { session?.observation?.willChange(self, .attribute(attribute.slot)) }
    return storeNaN(value, in: attribute.field)
  }

  /// Writes NaN, which makes the commit reject the record. Returns `false` if the field is neither
  /// numeric nor JSON.
  final func storeNaN(_ value: PropertyValue, in field: RecordField) -> Bool {
    switch field.kind {
    case .float: write { buffer, _ in buffer.store(field, Float.nan) }
    case .double, .date: write { buffer, _ in buffer.store(field, Double.nan) }
    case .decimal: storeBytes(DecimalCodec.notANumber, in: field)
    case .tagged: storeBytes(ValueCodec.encode(value), in: field)
    case .json: storeBytes(Array(CanonicalJSON.unencodable), in: field)
    default: return false
    }
    return true
  }

  final func storeBytes(_ bytes: [UInt8], in field: RecordField) {
    write { buffer, allocator in
      bytes.withUnsafeBytes { buffer.store(field, bytes: $0, allocator: allocator) }
    }
  }

  private final func setValue(_ value: PropertyValue, of attribute: AttributeSchema)
    throws(ArborError)
  {
    _ = try requireSession()
    if let error = binding.refusal(toSet: attribute) { throw error.with(objectID: objectID) }
    try checkCase(value, of: attribute)
    let isTagged = attribute.field.kind == .tagged
    if binding.isObserved { session?.observation?.willChange(self, .attribute(attribute.slot)) }
    let fitting = isTagged ? value : attribute.description.type.fitting(value)
    // Remains `true` if the record cannot be read, because the value isn't the cause.
    var fits = fitting != nil
    if let fitting {
      write { buffer, allocator in
        fits = buffer.set(attribute.field, fitting, allocator: allocator)
      }
    }
    // Changing a deleted object has no effect and is not an error.
    guard fits || change?.kind == .deleted else { throw mismatch(attribute.name, value) }
  }

  /// Throws if a value isn't the raw value of a case of the property's enumeration, or doesn't have
  /// the structure of the attribute's JSON.
  final func checkCase(
    _ value: PropertyValue, of attribute: AttributeSchema
  ) throws(ArborError) {
    if let misfit = attribute.description.misfit(in: value) {
      throw ArborError(.typeMismatch, misfit.message(binding.entity.name, attribute.name)).with(
        entity: binding.entity.name, objectID: objectID,
        keyPath: misfit.path(below: attribute.name), offending: misfit.found)
    }
    guard let cases = attribute.description.rawCases, !cases.contains(value) else { return }
    throw ArborError(
      .typeMismatch,
      "Expected \(cases.expectation) for \(binding.entity.name).\(attribute.name), but found "
        + "\(value).\(cases.hint(value))"
    ).with(
      entity: binding.entity.name, objectID: objectID, keyPath: attribute.name,
      offending: "\(value)")
  }

  /// Returns the object of a to-one relationship.
  ///
  /// - Throws: The same errors as ``value(forKey:)``; also `typeMismatch` if the property isn't a
  ///   to-one relationship.
  public final func object(forKey key: String) throws(ArborError) -> ManagedObject? {
    let relationship = try relationship(key, isToMany: false)
    try requireReadable(.relationship(relationship), asObject: true)
    return try reading { object(of: relationship) }
  }

  final func object(of relationship: RelationshipSchema) -> ManagedObject? {
    noteAccess(relationship)
    guard let target = target(of: relationship) else { return nil }
    guard let session else {
      noteLostRead(relationship.name)
      return nil
    }
    return session.fault(target)
  }

  /// Sets a to-one relationship to another object or `nil`, and updates the inverse immediately.
  ///
  /// - Throws: ``ArborError``: `unknownName` if the property doesn't exist, `typeMismatch` if it
  ///   isn't a to-one relationship or the object is of another entity, `invalidArgument` if the
  ///   object belongs to another context, `notAllowed` if this object can no longer be changed,
  ///   `objectNotFound` if another commit has deleted this object or the other one.
  public final func setObject(_ target: ManagedObject?, forKey key: String) throws(ArborError) {
    try changing { () throws(ArborError) in
      try setObject(target, of: relationship(key, isToMany: false))
    }
  }

  final func setObject(_ target: ManagedObject?, of relationship: RelationshipSchema)
    throws(ArborError)
  {
    let session = try requireSession()
    if let problem = target.flatMap({ problem(of: $0, relationship) }) { throw problem }
    InverseKeeper(session).set(self, relationship, to: target)
  }

  /// Returns a view of a to-many relationship, to read or change its objects.
  ///
  /// - Throws: ``ArborError``: `unknownName` if the property doesn't exist, `typeMismatch` if it
  ///   isn't a to-many relationship.
  public final func objects(forKey key: String) throws(ArborError) -> RelatedObjects {
    RelatedObjects(owner: self, relationship: try relationship(key, isToMany: true))
  }

  final func objects(of relationship: RelationshipSchema) -> [ManagedObject] {
    noteAccess(relationship)
    guard let session else {
      noteLostRead(relationship.name)
      return []
    }
    return session.memberObjects(of: self, relationship)
  }

  final func setObjects(
    _ members: some Sequence<ManagedObject>, of relationship: RelationshipSchema
  ) throws(ArborError) {
    let session = try requireSession()
    let members = Array(members)
    for member in members {
      if let problem = problem(of: member, relationship) { throw problem }
    }
    guard change?.kind != .deleted else { return }
    InverseKeeper(session).replace(self, relationship, with: members.lazy.map(\.number))
  }

  final func add(_ member: ManagedObject, to relationship: RelationshipSchema) throws(ArborError) {
    let session = try requireSession()
    if let problem = problem(of: member, relationship) { throw problem }
    guard change?.kind != .deleted else { return }
    InverseKeeper(session).add(member, to: self, relationship)
  }

  final func remove(_ member: ManagedObject, from relationship: RelationshipSchema)
    throws(ArborError)
  {
    let session = try requireSession()
    guard change?.kind != .deleted, session.isMember(member, of: self, relationship) else { return }
    InverseKeeper(session).remove(member, from: self, relationship)
  }

  final func contains(_ member: ManagedObject, in relationship: RelationshipSchema) -> Bool {
    noteAccess(relationship)
    guard let session else {
      noteLostRead(relationship.name)
      return false
    }
    return session.isMember(member, of: self, relationship)
  }

  final func count(of relationship: RelationshipSchema) -> Int {
    noteAccess(relationship)
    guard let session else {
      noteLostRead(relationship.name)
      return 0
    }
    return session.memberCount(of: self, relationship)
  }

  private final func noteAccess(_ relationship: RelationshipSchema) {
    if binding.isObserved { session?.observation?.access(self, relationship) }
  }

  private final func property(_ key: String) throws(ArborError) -> PropertySchema {
    if let property = binding.entity.property(named: key) { return property }
    throw binding.entity.unknownProperty(key).with(objectID: objectID)
  }

  private final func relationship(_ key: String, isToMany: Bool) throws(ArborError)
    -> RelationshipSchema
  {
    guard case .relationship(let relationship) = try property(key),
      relationship.isToMany == isToMany
    else {
      throw ArborError(
        .typeMismatch,
        "\(binding.entity.name).\(key) is not a \(isToMany ? "to-many" : "to-one") relationship. "
          + "Read it with value(forKey:)."
      ).with(entity: binding.entity.name, objectID: objectID, keyPath: key)
    }
    return relationship
  }

  final func requireSession() throws(ArborError) -> Session {
    if let session { return session }
    if isLost { throw lostObject }
    throw ArborError(
      .notAllowed,
      "\(objectID) can no longer be changed: \(whyDetached). Keep its objectID, and fetch the "
        + "object from a context."
    ).with(entity: binding.entity.name, objectID: objectID)
  }

  final func mismatch(_ key: String, _ value: PropertyValue) -> ArborError {
    var expectation = "object IDs"
    if case .attribute(let attribute) = binding.entity.property(named: key) {
      expectation = attribute.description.type.expectation
    }
    return binding.entity.mismatch(key, value, expectation).with(objectID: objectID)
  }
}
