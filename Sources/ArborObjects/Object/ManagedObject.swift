public import ArborJSON
public import ArborModel

/// An object of a store, as seen by one context.
///
/// Objects are inserted, fetched or looked up by ID through a context, which holds one object per
/// ID. Two objects are therefore equal if and only if they are identical. An object belongs to its
/// context and must stay on the thread or actor that uses it. Pass its ``objectID`` instead.
///
/// Properties are accessed by name or through the accessors of a typed subclass:
///
/// ```swift
/// employee["age"] = 41
///
/// final class Employee: ManagedObject {
///   override class var entityDescription: EntityDescription { description }
///   private static let description = EntityDescription(
///     name: "Employee", className: "Employee",
///     attributes: [.init(name: "age", type: .integer64, defaultValue: 18)],
///     relationships: [.init(name: "company", destination: "Company", inverse: "employees")])
///   var age: Int { get { _attribute(0) } set { _setAttribute(0, newValue) } }
///   var company: Company? { get { _toOne(0) } set { _setToOne(0, newValue) } }
/// }
/// ```
///
/// Attributes are numbered from the root entity down, those of each entity in the order of its
/// description. Relationships are numbered separately in the same way. A subclass can have stored
/// properties of its own, each with an initial value. They live as long as the object and are never
/// committed.
///
/// Reading never throws. If a value has to be loaded and the store cannot be read, the attribute's
/// default value is returned and the context's next throwing operation throws the error. If the
/// object no longer exists, because it was deleted before its values were loaded, the default value
/// is returned and ``isDeleted`` becomes `true`. An object that outlives its context, or whose deletion was committed, keeps its loaded values, has no
/// ``context``, and can no longer be changed.
///
/// ## Topics
/// ### Identity and state
/// - ``objectID``
/// - ``entity``
/// - ``context``
/// - ``isInserted``
/// - ``isUpdated``
/// - ``isDeleted``
/// - ``isFault``
/// - ``hasChanges``
/// - ``changedValues()``
/// - ``committedValues(for:)``
/// ### Values by name
/// - ``subscript(_:)->PropertyValue``
/// - ``value(forKey:)``
/// - ``value(forKeyPath:)``
/// - ``setValue(_:forKey:)-(PropertyValue,_)``
/// - ``object(forKey:)``
/// - ``setObject(_:forKey:)``
/// - ``objects(forKey:)``
/// ### Typed classes
/// - ``entityDescription``
/// - ``entityName``
/// - ``propertyNames``
/// - ``overriddenHooks``
/// - ``setInitialValues(of:)``
/// ### Hooks
/// - ``awakeFromInsert()``
/// - ``awakeFromFetch()``
/// - ``willCommit()``
/// - ``didCommit()``
/// - ``prepareForDeletion()``
/// - ``validateForInsert()``
/// - ``validateForUpdate()``
/// - ``validateForDelete()``
/// - ``validate(_:forKey:)``
nonisolated open class ManagedObject: Hashable {
  // Objects are numerous, so they have few fields: an object takes 80 bytes.

  /// The session, which clears the reference before it is deallocated. Neither weak nor unowned,
  /// because those cost 60 ns per access instead of 1, and not retained, because the session owns
  /// its objects.
  final var sessionReference: Unmanaged<Session>?
  final let number: ObjectNumber
  /// The entity's binding, which creates and reads objects.
  final let binding: EntityBinding
  /// The record as the session sees it. `nil` for a fault, whose record hasn't been loaded.
  final var base: UnsafeRawPointer?
  /// The slab that contains the record, which keeps ``base`` valid.
  final var slab: RecordSlab?
  /// The pending change, or `nil` if the object is unchanged.
  final var change: PendingObject?
  final var count: Int32
  final var state: State

  /// The object's relation to its session, apart from changes.
  enum State: UInt8 {
    /// The object belongs to its session.
    case live
    /// The session was deallocated or reset.
    case forgotten
    /// The object's deletion was committed by this context, or its insertion was undone.
    case gone
    /// The object was a fault, and didn't exist when its record was last to be loaded.
    case missing
    /// Another commit deleted the object.
    case lost
    /// The object was inserted with the unique value of another object, and merged into that.
    case merged
  }

  /// Creates an object. Called by contexts only. Subclasses inherit the initializer by giving their
  /// stored properties initial values.
  public required init(_ construction: ObjectConstruction) {
    sessionReference = construction.session
    number = construction.number
    binding = construction.binding.takeRetainedValue()
    base = construction.record?.base
    slab = construction.slab?.takeRetainedValue()
    count = Int32(truncatingIfNeeded: construction.record?.count ?? 0)
    state = .live
  }

  /// The description of the entity that the class represents. Overridden by typed subclasses.
  open class var entityDescription: EntityDescription { EntityDescription(name: "") }

  /// The name that descriptions of other classes use to refer to the class's entity. Defaults to
  /// the name of the class.
  ///
  /// Override it with a constant if the entity has another name. It must not access the
  /// description, because descriptions that refer to each other would recurse endlessly.
  open class var entityName: String { "\(self)" }

  /// The number of the entity's attributes, including inherited ones. The attributes of a subclass
  /// are numbered from here.
  ///
  /// A class whose subclasses use it to number their accessors overrides it with a constant
  /// expression that the compiler can fold, as `@Entity` does. The default implementation looks up
  /// the total of the descriptions.
  @_documentation(visibility: internal)
  open class var attributeCount: Int { DescribedCounts.of(self).attributes }

  /// The number of the entity's relationships, including inherited ones. See ``attributeCount``.
  @_documentation(visibility: internal)
  open class var relationshipCount: Int { DescribedCounts.of(self).relationships }

  /// The names of the class's own modeled properties by key path, provided by `@Entity`.
  ///
  /// Key paths of requests are looked up here first. For other key paths, such as those of
  /// inherited properties or those that continue to another object, a placeholder object is created
  /// and the accessors are traced. This requires that each accessor reads one property and nothing
  /// else.
  ///
  /// ```swift
  /// override class var propertyNames: [AnyKeyPath: String] { [\Employee.age: "age"] }
  /// ```
  open class var propertyNames: [AnyKeyPath: String] { [:] }

  /// The hooks overridden by the class, among those that are called for many values or objects.
  /// Provided by `@Entity`. Without it, all hooks are called.
  open class var overriddenHooks: OverriddenHooks { OverriddenHooks(of: ManagedObject.self) }

  /// Sets initial values that are not constants, such as a new `UUID` or the current date.
  ///
  /// Called once for each insertion, after the default values of the entity's description are set
  /// and before ``awakeFromInsert()``. `@Entity` overrides it if initial values are not constants.
  /// A class written by hand can override it, too: it must call `super` first and set attributes by
  /// their slots.
  ///
  /// ```swift
  /// override class func setInitialValues(of object: ManagedObject) {
  ///   super.setInitialValues(of: object)
  ///   object._setAttribute(2, UUID())
  /// }
  /// ```
  open class func setInitialValues(of object: ManagedObject) {}

  // MARK: Hooks

  /// Called once, after the object has been inserted and its default values have been set.
  open func awakeFromInsert() {}

  /// Called each time after the object's record has been loaded from the store.
  open func awakeFromFetch() {}

  /// Called at the start of a commit, before validation, for every inserted, updated or deleted
  /// object, and again if the object has changed since. May change and insert objects, whose hooks are
  /// called in the next round. After 100 rounds, the commit throws `notAllowed`.
  open func willCommit() {}

  /// Called after the commit that wrote the object.
  open func didCommit() {}

  /// Called before the object is deleted, while its relationships are still set.
  open func prepareForDeletion() {}

  /// Called by an import for each property whose key an item contains, even if the value is null,
  /// before the value is set.
  ///
  /// ```swift
  /// override func importValue(_ value: JSONValue, forKey key: String) -> Bool {
  ///   guard key == "name" else { return false }
  ///   name = value.string?.capitalized ?? ""
  ///   return true
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - value: The value in the item. Its type may differ from the attribute's: values that
  ///     the object doesn't handle are checked afterwards. Dates are ISO 8601 in UTC with
  ///     fractional seconds, regardless of the document's format.
  ///   - key: The name of the property.
  /// - Returns: Whether the object has handled the value. If `true`, the import doesn't set the
  ///   property.
  open func importValue(_ value: JSONValue, forKey key: String) -> Bool { false }

  /// Called by an import after all properties of an item have been set.
  ///
  /// - Parameter json: The item.
  open func didImport(from json: JSONValue) {}

  /// Validates an inserted object. Called by commits, and by code that validates earlier.
  ///
  /// An override adds rules to those of the model. It must call `super`, which checks the model's
  /// rules and ``validate(_:forKey:)``. During a commit `super` does nothing, because the commit
  /// checks these rules for all objects and reports every violation.
  ///
  /// ```swift
  /// override func validateForInsert() throws {
  ///   try super.validateForInsert()
  ///   if ends < begins { throw TimesError() }
  /// }
  /// ```
  ///
  /// - Throws: Any error. The commit fails and reports it as one of the violations.
  open func validateForInsert() throws { try checkRules(isDeletion: false) }

  /// Validates a changed object. Called by commits, and by code that validates earlier. An override
  /// must call `super`, as in ``validateForInsert()``.
  ///
  /// - Throws: Any error. The commit fails and reports it as one of the violations.
  open func validateForUpdate() throws { try checkRules(isDeletion: false) }

  /// Validates a deleted object or one to be deleted. Called by commits, and by code that validates
  /// earlier. An override must call `super`, as in ``validateForInsert()``.
  ///
  /// - Throws: Any error. The commit fails and reports it as one of the violations.
  open func validateForDelete() throws { try checkRules(isDeletion: true) }

  /// Validates a single value of an inserted or changed object during a commit, in addition to the
  /// rules of the model.
  ///
  /// Called for each attribute and, with its target's ID, for each to-one relationship, whether
  /// changed or not, except for unchanged binary attributes with external storage. Not called for
  /// to-many relationships; use the hooks that validate the whole object.
  ///
  /// - Throws: Any error. The commit fails and reports it as one of the violations.
  open func validate(_ value: PropertyValue, forKey key: String) throws {}

  // MARK: Identity

  /// Returns whether two references refer to the same object.
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }

  /// Hashes the object's identity.
  public final func hash(into hasher: inout Hasher) {
    noteHashed()
    hasher.combine(number.rawValue)
  }

  /// Returns the hash used by sets. Hashing just the number takes half the time of using a hasher:
  /// 0.45 instead of 0.95 µs per insertion into a set of 100,000 objects.
  public final func _rawHashValue(seed: Int) -> Int {
    noteHashed()
    return number.rawValue._rawHashValue(seed: seed)
  }

  /// Reports that the object is hashed to the sets of members that are being changed in place.
  @inline(__always)
  private final func noteHashed() {
    guard let sessionReference else { return }
    sessionReference._withUnsafeGuaranteedRef { session in
      if !session.hashed.isEmpty { for hashed in session.hashed { hashed.note(self) } }
    }
  }
}

@available(*, unavailable, message: "Objects belong to their context. Pass the objectID instead.")
extension ManagedObject: Sendable {}

/// An opaque value from which a context creates an object.
///
/// Ownership of its references is transferred to the object. When many objects are created, their
/// references are retained all at once.
public struct ObjectConstruction {
  /// The session, not retained. `nil` for a placeholder that only traces the properties read by a
  /// key path.
  let session: Unmanaged<Session>?
  let binding: Unmanaged<EntityBinding>
  let number: ObjectNumber
  /// `nil` for a fault.
  let record: RecordView?
  let slab: Unmanaged<RecordSlab>?
}
