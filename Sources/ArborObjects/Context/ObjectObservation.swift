internal import ArborModel
internal import ArborStore
public import Observation

/// Reports accesses and changes of a context's objects to Swift's `Observation`.
///
/// A single registrar serves all objects. Its key paths identify both the object and the property,
/// so observed objects need no additional storage, and properties that aren't tracked use none.
final class ObjectObservation: ChangeListener {
  /// A property of an entity, identified by its slot.
  enum Property: Hashable {
    case attribute(Int)
    case relationship(Int)
  }

  /// The object and property that a key path identifies.
  struct Observed: Hashable {
    /// The object's number, or 0 for all objects with the relationship.
    let number: UInt64
    let property: Property
    /// The index of the entity that declares the relationship if `number` is 0, otherwise 0.
    let declaringEntity: Int

    init(_ number: ObjectNumber, _ property: Property) {
      self.number = number.rawValue
      self.property = property
      declaringEntity = 0
    }

    init(all relationship: RelationshipSchema) {
      number = 0
      property = .relationship(relationship.slot)
      declaringEntity = relationship.declaringEntity
    }
  }

  /// The state of an object before it was updated from the store.
  private struct Replaced {
    let object: ManagedObject
    /// The previous record, or `nil` if it was not loaded, so that there is nothing to compare.
    var before: RecordView?
    var slab: RecordSlab?
    /// The change bits reported by other commits.
    var bits: UInt64 = 0
    var isReplaced = false
  }

  private unowned let session: Session
  private let registrar = ObservationRegistrar()
  private var replaced: [ObjectNumber: Replaced] = [:]
  private var links: [(owner: ObjectNumber, relationship: RelationshipSchema)] = []
  /// Whether the members of derived relationships may have been changed by other commits.
  private var hasConcurrentReferences = false
  private(set) var isOver = false

  /// - Parameter session: The session that owns the observation. Not retained.
  init(_ session: Session) { self.session = session }

  func end() { isOver = true }

  // MARK: Accesses and own changes

  func access(_ object: ManagedObject, _ property: Property) {
    registrar.access(object, keyPath: \.[observed: Observed(object.number, property)])
  }

  func access(_ object: ManagedObject, _ relationship: RelationshipSchema) {
    access(object, .relationship(relationship.slot))
    // Other commits record such changes only for the members, not for the owner.
    if relationship.storage == .derived {
      registrar.access(object, keyPath: \.[observed: Observed(all: relationship)])
    }
  }

  func willChange(_ object: ManagedObject, _ property: Property) {
    registrar.willSet(object, keyPath: \.[observed: Observed(object.number, property)])
  }

  // MARK: ChangeListener

  func note(_ edit: Edit) {}

  func noteReplaced(_ object: ManagedObject) {
    let number = object.number
    guard replaced[number]?.isReplaced != true else { return }
    var entry = replaced[number] ?? Replaced(object: object)
    entry.isReplaced = true
    entry.before = object.heldRecord
    entry.slab = object.slab
    replaced[number] = entry
  }

  func willChange(linksOf owner: ObjectNumber, _ relationship: RelationshipSchema) {
    // An object that isn't registered cannot have been read.
    guard let object = session.registry.object(owner) else { return }
    willChange(object, .relationship(relationship.slot))
  }

  func noteReplaced(linksOf owner: ObjectNumber, _ relationship: RelationshipSchema) {
    links.append((owner, relationship))
  }

  func noteConcurrent(_ change: HistoryEntry.Change, isRegistered: Bool) {
    if change.kind != .update { hasConcurrentReferences = true }
    guard let entity = session.schema.entity(of: change.number) else { return }
    if change.changedProperties & entity.referenceBits != 0 { hasConcurrentReferences = true }
    guard isRegistered, let object = session.registry.object(change.number) else { return }
    replaced[change.number, default: Replaced(object: object)].bits |= change.changedProperties
  }

  func noteAnything() { hasConcurrentReferences = true }

  // MARK: Notifying

  /// Notifies observers of updated objects once the new values are in place.
  func settle() {
    guard !replaced.isEmpty || !links.isEmpty || hasConcurrentReferences else { return }
    let (replaced, links, concurrent) = (replaced, links, hasConcurrentReferences)
    self.replaced = [:]
    self.links = []
    hasConcurrentReferences = false
    for entry in replaced.values { tell(entry) }
    for link in links {
      guard let owner = session.registry.object(link.owner) else { continue }
      tell(owner, Observed(owner.number, .relationship(link.relationship.slot)))
    }
    // The key path identifies the property. The object only determines the class.
    guard concurrent,
      let object = replaced.values.first?.object ?? session.registry.first
    else { return }
    for relationship in session.classes.originals.flatMap(\.entity.relationships)
    where relationship.storage == .derived {
      tell(object, Observed(all: relationship))
    }
  }

  private func tell(_ entry: Replaced) {
    let object = entry.object
    let entity = object.binding.entity
    var bits = UInt64.max
    if object.session != nil {
      if let before = entry.before, object.base != nil {
        let links = object.change == nil ? entry.bits & entity.linkBits : 0
        bits = links | object.currentRecord.changedFields(since: before, in: entity.layout)
      } else if !entry.isReplaced || entry.bits != 0 {
        // A pending change hides the values of concurrent commits.
        bits = object.change == nil ? entry.bits : 0
      }
    }
    guard bits != 0 else { return }
    for attribute in entity.attributes
    where bits & EntitySchema.changeBit(ofField: attribute.fieldIndex) != 0 {
      tell(object, Observed(object.number, .attribute(attribute.slot)))
    }
    for relationship in entity.relationships
    where bits & (entity.changeBits(of: relationship)) != 0 {
      tell(object, Observed(object.number, .relationship(relationship.slot)))
    }
  }

  private func tell(_ object: ManagedObject, _ observed: Observed) {
    registrar.willSet(object, keyPath: \.[observed: observed])
    registrar.didSet(object, keyPath: \.[observed: observed])
  }
}

extension ManagedObject: Observable {
  /// The key path component of observed properties. Never evaluated.
  subscript(observed observed: ObjectObservation.Observed) -> Bool { false }
}

extension ManagedObjectContext {
  /// A Boolean value that indicates whether the context's objects are tracked by Swift's
  /// `Observation`. Defaults to `false`.
  ///
  /// ```swift
  /// context.isObservable = true
  /// let employee = try context.fetchOne(Employee.self)
  /// withObservationTracking { label.text = employee?.name } onChange: { … }
  /// ```
  ///
  /// Enable it before objects are loaded: objects the context already holds are not observed. Each
  /// property of an object is observed separately, whether it is accessed by a typed accessor or by
  /// name, and whether it is changed by an accessor, a rollback or a merged commit. When another
  /// commit changes the members of an unordered one-to-many relationship, the change is reported
  /// for all its owners.
  ///
  /// Disabled tracking has no cost in memory or time. As usual, `onChange` is called before the
  /// change has taken effect, so it should only record that there was one.
  public var isObservable: Bool {
    get { session.observation != nil }
    set {
      guard newValue != isObservable else { return }
      session.observation?.end()
      session.observation = newValue ? ObjectObservation(session) : nil
      if let observation = session.observation { session.listeners.append(observation) }
      session.classes = session.classes.observed(newValue)
    }
  }
}
