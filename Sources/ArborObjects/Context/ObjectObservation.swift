internal import ArborModel
internal import ArborStore
public import Observation

/// Reports accesses and changes of a context's objects to Swift's `Observation`.
///
/// A single registrar serves all objects. Its key paths identify both the object and the property,
/// so observed objects need no additional storage, and properties that aren't tracked use none.
final class ObjectObservation: ChangeListener {
  /// A property of an entity, identified by its slot, or the object's state.
  enum Property: Hashable {
    case attribute(Int)
    case relationship(Int)
    /// Whether the object is inserted, updated or deleted.
    case state
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
  /// The objects whose state has been read since observers were last notified of it.
  private var states: [ObjectNumber: ReadState] = [:]
  /// Whether the context had changes when that was last read, or `nil` if observers have been notified
  /// since.
  private var contextState: Bool?
  private weak var history: UndoHistory?

  private struct ReadState {
    weak var object: ManagedObject?
    let state: State
  }

  private struct State: Equatable {
    let isInserted: Bool
    let hasChanges: Bool
    let isDeleted: Bool

    init(_ object: ManagedObject) {
      isInserted = object.change?.kind == .inserted
      hasChanges = object.change != nil || object.session?.links.hasEdits(of: object) == true
      isDeleted = object.isGone
    }
  }

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
    noteEdit(of: object.number)
  }

  // MARK: States

  func accessState(_ object: ManagedObject) {
    // An earlier observer may have read another state.
    if states[object.number] == nil {
      states[object.number] = ReadState(object: object, state: State(object))
    }
    access(object, .state)
  }

  func accessContext(_ context: ManagedObjectContext) {
    contextState = contextState ?? session.hasChanges
    registrar.access(context, keyPath: \.hasChanges)
  }

  func accessHistory<Value>(_ history: UndoHistory, _ keyPath: KeyPath<UndoHistory, Value>) {
    self.history = history
    registrar.access(history, keyPath: keyPath)
  }

  /// Notifies observers of an undo history of a change that has happened or is about to.
  func noteHistory() {
    guard let history else { return }
    self.history = nil
    tell(history, \.canUndo)
    tell(history, \.canRedo)
    tell(history, \.undoNames)
    tell(history, \.redoNames)
  }

  /// Notifies observers of states that an edit of an object may change.
  private func noteEdit(of number: ObjectNumber) {
    if states.removeValue(forKey: number) != nil, let object = session.registry.object(number) {
      tell(object, Observed(number, .state))
    }
    tellContext()
    noteHistory()
  }

  private func tellContext() {
    guard contextState != nil, let context = session.context else { return }
    contextState = nil
    tell(context, \.hasChanges)
  }

  /// Notifies observers of the states that have changed since they were read.
  private func settleStates() {
    if let contextState, contextState != session.hasChanges { tellContext() }
    noteHistory()
    for (number, read) in states {
      // Another commit may have deleted the object, which no longer belongs to the context then.
      let object = read.object
      guard object.map(State.init) != read.state else { continue }
      states[number] = nil
      if let object { tell(object, Observed(number, .state)) }
    }
  }

  // MARK: ChangeListener

  func note(_ edit: Edit) {
    switch edit {
    case .object(let edit): noteEdit(of: edit.object.number)
    case .link(let edit):
      noteEdit(of: edit.owner)
      noteEdit(of: edit.member)
    case .order(let owner, _, _): noteEdit(of: owner)
    case .sequence, .none: break
    }
  }

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
    settleStates()
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
    tell(object, \.[observed: observed])
  }

  private func tell<Subject: Observable, Value>(
    _ subject: Subject, _ keyPath: KeyPath<Subject, Value>
  ) {
    registrar.willSet(subject, keyPath: keyPath)
    registrar.didSet(subject, keyPath: keyPath)
  }
}

extension ManagedObjectContext: Observable {}
extension UndoHistory: Observable {}

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
  /// name, and whether it is changed by an accessor, a rollback or a merged commit. The states of
  /// objects, of the context and of its ``ManagedObjectContext/undoHistory`` are observed, too. When another
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
