public import ArborJSON
public import ArborModel

/// One object of a store, as one context sees it.
///
/// Objects come from a context — inserted, fetched or looked up by ID — which keeps one object per
/// ID, so two objects are equal exactly if they are identical. An object belongs to its context and
/// to whatever runs that context: it never crosses to another thread or actor, its
/// ``objectID`` does.
///
/// Properties are read and written by name, or through the accessors of a typed subclass:
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
/// Attributes are numbered from the root entity down, each entity's own ones in the order of its
/// description; relationships likewise, by themselves. A subclass may have stored properties of its
/// own, each with an initial value; they live as long as the object and are never committed.
///
/// Reading never throws: a read that has to go to the store and fails gives the attribute's
/// default, and the context's next throwing operation throws the reason. An object that outlives
/// its context, or whose deletion was committed, keeps the values it holds, has no ``context``, and
/// may not be changed any more.
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
  // Few fields, since there are as many of each as objects: with them an object takes 80 bytes.

  /// The session, which clears the reference before it goes. Neither weak nor unowned, which take
  /// 60 ns at each use in place of 1, and not counted, since the session keeps its objects.
  final var sessionReference: Unmanaged<Session>?
  final let number: ObjectNumber
  /// How objects of the entity are created and read.
  final let binding: EntityBinding
  /// The record as the session has it; nil for a fault, whose record is still in the store.
  final var base: UnsafeRawPointer?
  /// Keeps ``base`` alive.
  final var slab: RecordSlab?
  /// The change that is to be committed; nil for an unchanged object.
  final var change: PendingObject?
  final var count: Int32
  final var state: State

  /// How an object relates to its session, apart from its changes.
  enum State: UInt8 {
    /// It belongs to its session.
    case live
    /// Its session has gone or has been reset.
    case forgotten
    /// Its deletion was committed, here or elsewhere, or its insertion was undone.
    case gone
  }

  /// Made by contexts only. Subclasses inherit it: they give their stored properties initial
  /// values.
  public required init(_ construction: ObjectConstruction) {
    sessionReference = construction.session
    number = construction.number
    binding = construction.binding.takeRetainedValue()
    base = construction.record?.base
    slab = construction.slab?.takeRetainedValue()
    count = Int32(truncatingIfNeeded: construction.record?.count ?? 0)
    state = .live
  }

  /// The entity that the class represents; typed subclasses override it.
  open class var entityDescription: EntityDescription { EntityDescription(name: "") }

  /// The name by which descriptions of other classes lead to the class's entity: that of the class.
  ///
  /// A class whose entity is called otherwise overrides it with the name alone. It does not ask the
  /// description, since descriptions that lead to each other would ask each other for ever.
  open class var entityName: String { "\(self)" }

  /// The number of attributes of the entity, inherited ones included: where a subclass's begin.
  ///
  /// A class whose subclasses number their accessors from here overrides it with the sum, which the
  /// compiler then knows; `@Entity` does. The sum of the descriptions, which stands here, is looked
  /// up.
  @_documentation(visibility: internal)
  open class var attributeCount: Int { DescribedCounts.of(self).attributes }

  /// The number of relationships of the entity, inherited ones included; see ``attributeCount``.
  @_documentation(visibility: internal)
  open class var relationshipCount: Int { DescribedCounts.of(self).relationships }

  /// The names of the class's own modelled properties, by their key paths; `@Entity` tells them.
  ///
  /// A key path of a request is looked up here first. For one that is not here, such as that of an
  /// inherited property or one that goes on to another object, an object without a store is made
  /// and the accessors are followed, which works where each reads one property and nothing else.
  ///
  /// ```swift
  /// override class var propertyNames: [AnyKeyPath: String] { [\Employee.age: "age"] }
  /// ```
  open class var propertyNames: [AnyKeyPath: String] { [:] }

  /// The hooks that the class overrides, of those that are called for many values or objects.
  /// `@Entity` lists them; all are called for a class that doesn't.
  open class var overriddenHooks: OverriddenHooks { OverriddenHooks(of: ManagedObject.self) }

  /// Sets what a new object begins with and no constant says: a new `UUID`, the date of now.
  ///
  /// Called once for each insertion, whatever asks for it, after the constants of the entity's
  /// description are in place and before ``awakeFromInsert()``. `@Entity` overrides it where
  /// initial values are no constants. A class written by hand may too: it calls `super` first, and
  /// sets attributes by their slots.
  ///
  /// ```swift
  /// override class func setInitialValues(of object: ManagedObject) {
  ///   super.setInitialValues(of: object)
  ///   object._setAttribute(2, UUID())
  /// }
  /// ```
  open class func setInitialValues(of object: ManagedObject) {}

  // MARK: Hooks

  /// Called once, when the object has been inserted, with its default values in place.
  open func awakeFromInsert() {}

  /// Called whenever the object's record has been read from the store.
  open func awakeFromFetch() {}

  /// Called at the beginning of a commit, before validation, for every inserted, updated or deleted
  /// object; again when the object changed since. May change objects; the rounds are bounded.
  open func willCommit() {}

  /// Called after the commit that wrote the object.
  open func didCommit() {}

  /// Called when the object is about to be deleted, its relationships still in place.
  open func prepareForDeletion() {}

  /// Called by an import for each property whose key an item has, null included, before the value
  /// is set.
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
  ///   - value: What the item holds, also of another kind than the attribute's: what the object
  ///     does not take is checked afterwards. A date is ISO 8601 with fractions of a second in UTC,
  ///     whatever the document's format.
  ///   - key: The name of the property.
  /// - Returns: Whether the object has taken the value, so that the import leaves the property
  ///   alone.
  open func importValue(_ value: JSONValue, forKey key: String) -> Bool { false }

  /// Called by an import after all properties of an item have been set.
  ///
  /// - Parameter json: The item.
  open func didImport(from json: JSONValue) {}

  /// Checks an inserted object: called at commit, and by code that wants to know before.
  ///
  /// An override adds to the rules of the model. It calls `super`, which checks the object by those
  /// rules and by ``validate(_:forKey:)``; at commit, where they are checked for all objects
  /// anyway and every violation is reported, that does nothing.
  ///
  /// ```swift
  /// override func validateForInsert() throws {
  ///   try super.validateForInsert()
  ///   if ends < begins { throw TimesError() }
  /// }
  /// ```
  ///
  /// - Throws: Any error; the commit fails with it as one of its violations.
  open func validateForInsert() throws { try checkRules(isDeletion: false) }

  /// Checks a changed object: called at commit, and by code that wants to know before. An override
  /// calls `super`, as in ``validateForInsert()``.
  ///
  /// - Throws: Any error; the commit fails with it as one of its violations.
  open func validateForUpdate() throws { try checkRules(isDeletion: false) }

  /// Checks a deleted object, or one that is to be deleted: called at commit, and by code that
  /// wants to know before. An override calls `super`, as in ``validateForInsert()``.
  ///
  /// - Throws: Any error; the commit fails with it as one of its violations.
  open func validateForDelete() throws { try checkRules(isDeletion: true) }

  /// Checks one value of an inserted or changed object at commit, beyond the rules of the model.
  ///
  /// Called for each attribute, and for each to-one relationship with its target's ID, changed or
  /// not, but for unchanged binaries with external storage. Members of to-many relationships are
  /// not asked for: the checks of whole objects see them.
  ///
  /// - Throws: Any error; the commit fails with it as one of its violations.
  open func validate(_ value: PropertyValue, forKey key: String) throws {}

  // MARK: Identity

  /// Whether two references lead to the same object.
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }

  /// Feeds the object's identity into a hasher.
  public final func hash(into hasher: inout Hasher) { hasher.combine(number.rawValue) }

  /// What sets ask for: the hash of the number alone takes half the time that a hasher does, 0.45
  /// rather than 0.95 µs for an insertion into a set of 100,000 objects.
  public final func _rawHashValue(seed: Int) -> Int { number.rawValue._rawHashValue(seed: seed) }
}

@available(*, unavailable, message: "Objects stay with their context; pass the objectID.")
extension ManagedObject: Sendable {}

/// What a context makes one object from; opaque to everybody else.
///
/// The references that the object will hold are given away with it: who makes many objects counts
/// them all at once.
public struct ObjectConstruction {
  /// Not held; nil for an object that only shows which properties a key path reads.
  let session: Unmanaged<Session>?
  let binding: Unmanaged<EntityBinding>
  let number: ObjectNumber
  /// nil for a fault.
  let record: RecordView?
  let slab: Unmanaged<RecordSlab>?
}
