internal import ArborModel
internal import ArborStore
public import Observation

/// What Swift's `Observation` is told of a context's objects.
///
/// One registrar serves all of them: a key path names object and property, so that an object takes
/// no room for being observed, and what nobody reads while it is tracked takes none at all.
final class ObjectObservation: ChangeListener {
  /// A property of an entity: an attribute or a relationship, by its slot.
  enum Property: Hashable {
    case attribute(Int)
    case relationship(Int)
  }

  /// What a key path names.
  struct Observed: Hashable {
    /// 0 for all objects that have the relationship.
    let number: UInt64
    let property: Property
    /// The entity that declares the relationship, where it is that of all objects; else 0.
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

  /// What became of an object while its context brought it up to date.
  private struct Replaced {
    let object: ManagedObject
    /// The record before; nil where it was not read, so that nothing can be compared.
    var before: RecordView?
    var slab: RecordSlab?
    /// What others say has changed.
    var bits: UInt64 = 0
    var isReplaced = false
  }

  private unowned let session: Session
  private let registrar = ObservationRegistrar()
  private var replaced: [ObjectNumber: Replaced] = [:]
  private var links: [(owner: ObjectNumber, relationship: RelationshipSchema)] = []
  /// Whether the members of derived relationships may have changed at the other side.
  private var hasConcurrentReferences = false
  private(set) var isOver = false

  /// - Parameter session: It owns the observation.
  init(_ session: Session) { self.session = session }

  /// Nobody wants to know any more.
  func end() { isOver = true }

  // MARK: Accesses and own changes

  func access(_ object: ManagedObject, _ property: Property) {
    registrar.access(object, keyPath: \.[observed: Observed(object.number, property)])
  }

  func access(_ object: ManagedObject, _ relationship: RelationshipSchema) {
    access(object, .relationship(relationship.slot))
    // Whose members others change is known of the members alone.
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
    // What is not registered nobody can have read.
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

  // MARK: Telling

  /// Tells of what was replaced, once it is in place.
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
    // Key paths say what is meant; the object beside them only says of which class it is.
    guard concurrent,
      let object = replaced.values.first?.object ?? session.registry.first
    else { return }
    for relationship in session.classes.bindings.flatMap(\.entity.relationships)
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
        // A change that waits here hides concurrent commits.
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
  /// What key paths of observed properties lead through. Nothing is ever read by one.
  subscript(observed observed: ObjectObservation.Observed) -> Bool { false }
}

extension ManagedObjectContext {
  /// Whether Swift's `Observation` is told what is read and changed of the context's objects; off
  /// at first.
  ///
  /// ```swift
  /// context.isObservable = true
  /// let employee = try context.fetchOne(Employee.self)
  /// withObservationTracking { label.text = employee?.name } onChange: { … }
  /// ```
  ///
  /// Switch it on before objects are read: those that the context keeps already are not observed.
  /// Each property of an object is observed by itself, typed or by its name, whatever changes it:
  /// an accessor, a rollback, or a commit of others that the context takes in. Members of a plain
  /// one-to-many relationship are told of for all its owners at once when others commit.
  ///
  /// Where it is off it costs nothing: no object grows by it and no access takes longer.
  /// `onChange` is called in the middle of a change, as ever: it should only remember that there
  /// was one.
  public var isObservable: Bool {
    get { session.observation != nil }
    set {
      guard newValue != isObservable else { return }
      session.observation?.end()
      session.observation = newValue ? ObjectObservation(session) : nil
      if let observation = session.observation { session.listeners.append(observation) }
      session.classes = newValue ? session.classes.observed : store.boundClasses
    }
  }
}
