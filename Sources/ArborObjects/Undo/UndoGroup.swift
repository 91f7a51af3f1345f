internal import ArborModel

/// What one undo takes back: the steps of a group, in the order they were made.
///
/// A step says what was before, of the parts that changed since; so undoing it changes nothing that
/// others have committed to other parts meanwhile.
final class UndoGroup {
  let name: String
  private(set) var steps: ContiguousArray<UndoStep> = []
  /// The nested groups that have ended, as ranges of steps.
  private(set) var nested: [Range<Int>] = []
  /// How many steps know what they changed.
  private(set) var sealedCount = 0

  init(named name: String) {
    self.name = name
  }

  /// A group of its own, of some of another one's steps.
  private init(named name: String, _ steps: ContiguousArray<UndoStep>) {
    self.name = name
    self.steps = steps
    sealedCount = steps.count
  }

  var isEmpty: Bool { steps.isEmpty }

  func append(_ step: UndoStep) { steps.append(step) }

  /// Makes what follows a position a nested group.
  func endNested(from start: Int) {
    if start < steps.count { nested.append(start..<steps.count) }
  }

  /// Takes out the last nested group, or the steps after it where there are any. The group has to
  /// be sealed.
  func takeLastNested(from start: Int) -> UndoGroup? {
    let ended = nested.last.map { $0.lowerBound >= start ? $0 : start..<start } ?? start..<start
    let lower = ended.upperBound < steps.count ? max(ended.upperBound, start) : ended.lowerBound
    guard lower < steps.count else { return nil }
    let taken = UndoGroup(named: name, ContiguousArray(steps[lower...]))
    truncate(to: lower)
    return taken
  }

  /// Forgets the steps behind a position.
  func truncate(to count: Int) {
    guard count < steps.count else { return }
    steps.removeLast(steps.count - count)
    nested.removeAll { $0.upperBound > count }
    sealedCount = min(sealedCount, count)
  }

  /// Finds out what the steps changed that do not know it yet, while the context still shows it.
  ///
  /// Steps that are sealed together know what became of all of them: what was changed and changed
  /// back is nothing to take back, whatever others make of it afterwards.
  func seal(in context: ManagedObjectContext) {
    var hasTurned = false
    var vanished: Set<ManagedObject> = []
    for index in sealedCount..<steps.count {
      switch steps[index] {
      case .object(var step):
        step.seal()
        steps[index] = .object(step)
        if step.before == nil, case .idle = step.outcome { vanished.insert(step.object) }
      case .link(var step):
        step.outcome = context.isMember(step) == step.wasMember ? .idle : .changed
        if step.outcome == .idle { hasTurned = true }
        steps[index] = .link(step)
      case .order(var step):
        step.seal(context.links.edit(step.owner, step.relation))
        steps[index] = .order(step)
      }
    }
    if hasTurned { sealTurns() }
    if !vanished.isEmpty { sealVanished(vanished) }
    sealedCount = steps.count
  }

  /// Nothing that was done to objects which came and went is left to take back.
  private func sealVanished(_ vanished: Set<ManagedObject>) {
    for index in sealedCount..<steps.count {
      guard case .object(var step) = steps[index], vanished.contains(step.object) else { continue }
      step.ignore()
      steps[index] = .object(step)
    }
  }

  /// Of several steps of one link the first tells whether they changed it together.
  private func sealTurns() {
    var outcomes: [LinkUndo.Pair: LinkUndo.Outcome] = [:]
    for index in sealedCount..<steps.count {
      guard case .link(var step) = steps[index] else { continue }
      if let first = outcomes[step.pair] {
        step.outcome = first == .idle ? .idle : step.outcome
        steps[index] = .link(step)
      } else {
        outcomes[step.pair] = step.outcome
      }
    }
  }

  /// Forgets what the steps from a position on changed: it has been taken back.
  func unseal(from count: Int) {
    guard count < sealedCount else { return }
    for index in count..<steps.count {
      guard case .object(var step) = steps[index] else { continue }
      step.unseal()
      steps[index] = .object(step)
    }
    // What links became is found out anew.
    sealedCount = count
  }

  /// Whether there is anything to take back. Known of a group that is sealed.
  var hasEffect: Bool { steps.contains { $0.hasEffect } }

  var isSealed: Bool { sealedCount == steps.count }
}

/// One step of a group, as what was before it.
enum UndoStep {
  /// An object's record.
  case object(ObjectUndo)
  /// Whether an object was a member of a relationship that is kept as links.
  case link(LinkUndo)
  /// The sequence of an ordered relationship's members.
  case order(OrderUndo)

  /// Whether the step, which is sealed, changed anything.
  var hasEffect: Bool {
    switch self {
    case .object(let step): return step.hasEffect
    case .link(let step): return step.outcome != .idle
    // Of those that have left, other steps tell.
    case .order(let step): return step.isMoved
    }
  }
}

/// Whether an object was a member before a step, and whether that changed it.
struct LinkUndo {
  enum Outcome { case open, changed, idle }

  struct Pair: Hashable {
    let owner: ObjectNumber
    let declaringEntity: Int
    let slot: Int
    let member: ObjectNumber
  }

  let owner: ObjectNumber
  let relation: Relation
  let member: ObjectNumber
  let wasMember: Bool
  var outcome = Outcome.open

  var pair: Pair {
    Pair(
      owner: owner, declaringEntity: relation.declaringEntity, slot: relation.slot, member: member)
  }
}

extension ManagedObjectContext {
  /// Whether a link is there now.
  fileprivate func isMember(_ step: LinkUndo) -> Bool {
    switch links.edit(step.owner, step.relation)?[step.member] ?? .unmentioned {
    case .added: true
    case .removed: false
    case .unmentioned: isStored(step.member, in: step.relation, of: step.owner)
    }
  }
}

/// An object's record before a step, and what the step changed in it.
struct ObjectUndo {
  /// What the step made of the object.
  enum Outcome {
    /// Not known yet: the group goes on.
    case open
    /// It changed the fields of the bits, the highest of which stands for all from the 64th on.
    case changed(UInt64)
    /// It deleted the object.
    case deleted
    /// It inserted the object.
    case inserted
    /// Nothing to take back: the object came and went, or others deleted it.
    case idle
  }

  let object: ManagedObject
  /// nil where the object did not exist.
  let before: RecordView?
  let slab: RecordSlab?
  private(set) var outcome = Outcome.open

  /// Longer records are kept where they are; a short one would keep a slab of many alive.
  private static let longestCopy = 4096

  init(_ step: ObjectStep, _ allocator: SlabAllocator) {
    object = step.object
    guard step.existed, step.kind != .deleted, let record = step.record else {
      before = nil
      slab = nil
      return
    }
    guard record.count <= Self.longestCopy, let source = record.bytes.baseAddress else {
      before = record
      slab = step.slab
      return
    }
    let base = allocator.allocate(record.count)
    // The step holds the slab of what is copied.
    base.copyMemory(from: source, byteCount: record.count)
    before = RecordView(base: base, count: record.count)
    slab = allocator.slab
  }

  /// Whether the step changed anything.
  var hasEffect: Bool {
    switch outcome {
    case .idle, .changed(0): false
    case .open, .changed, .deleted, .inserted: true
    }
  }

  mutating func unseal() { outcome = .open }

  mutating func ignore() { outcome = .idle }

  mutating func seal() {
    guard case .open = outcome else { return }
    let isAlive = object.owner != nil && object.change?.kind != .deleted
    switch (before, isAlive) {
    case (nil, true): outcome = .inserted
    case (nil, false): outcome = .idle
    case (.some, false): outcome = object.isDeleted ? .deleted : .idle
    case (.some(let before), true):
      outcome = .changed(
        before.changedFields(since: object.currentRecord, in: object.binding.entity.layout))
    }
  }
}
