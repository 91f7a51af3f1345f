internal import ArborModel
internal import ArborStore

/// Inserting objects.
extension Session {
  /// Inserts an object of a concrete entity. See ``ManagedObjectContext/insert(_:)-(String)``.
  func insert(_ entity: EntitySchema) throws(ArborError) -> ManagedObject {
    try mergeKnownCommits()
    let number = try newNumber(for: entity)
    return insert(try engine.reporting(binding(ofStored: number)).takeUnretainedValue(), number)
  }

  /// Inserts an object of exactly the given typed class. See
  /// ``ManagedObjectContext/insert(_:)-(T.Type)``.
  func insert(_ type: ManagedObject.Type) -> ManagedObject {
    sweepWhereDue()
    let binding: EntityBinding
    do throws(ArborError) { binding = try self.binding(for: type).takeUnretainedValue() } catch {
      stopProgram(error.message)
    }
    guard !binding.entity.isAbstract else {
      stopProgram(Self.abstractMessage(binding.entity.name))
    }
    let number: ObjectNumber
    do throws(ArborError) {
      try mergeKnownCommits()
      number = try newNumber(for: binding.entity)
    } catch {
      note(error)
      number = unstorableNumber(for: binding.entity)
    }
    return insert(binding, number)
  }

  private func newNumber(for entity: EntitySchema) throws(ArborError) -> ObjectNumber {
    let sequences = try engine.reporting(engine.takeNumbers(1, for: entity, limitOfWaiting))
    return ObjectNumber(entity: entity.number, sequence: sequences.lowerBound)
  }

  /// The limit of waiting for other writers outside of an operation.
  private var limitOfWaiting: WorkLimit {
    let limit = WorkLimit(until: self.limit.deadline)
    limit.revocation = self.limit.revocation
    return limit
  }

  /// Creates and registers an object with a pending insertion.
  private func insert(_ binding: EntityBinding, _ number: ObjectNumber) -> ManagedObject {
    let working = RecordBuffer(copying: binding.entity.layout.template, into: allocator)
    let object = binding.makeObject(in: self, number, working.view, working.slab)
    recordEdit(of: object, isKnown: false)
    registry.registerNew(object)
    let change = PendingObject(object, .inserted, epoch: epoch)
    change.working = working
    pending.add(change)
    binding.objectClass.setInitialValues(of: object)
    object.awakeFromInsert()
    return object
  }

  /// Returns a number from the upper end of the range, for an object that can never be committed.
  private func unstorableNumber(for entity: EntitySchema) -> ObjectNumber {
    defer { unstorableSequence -= 1 }
    return ObjectNumber(entity: entity.number, sequence: unstorableSequence)
  }
}
