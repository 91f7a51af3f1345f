package import ArborModel
internal import ArborStore

/// The way to the store, for operations and for reads of properties.
extension ManagedObjectContext {
  /// Begins an operation: reports what an earlier call could not throw, refuses to go on in a
  /// closed store, and lets go of objects that nobody uses.
  @inline(__always)
  func beginOperation() throws(ArborError) {
    limit.begin(until: deadline)
    if failure != nil { try reportFailure() }
    try store.requireOpen()
    sweepWhereDue()
  }

  /// Tells of every query from here on, whatever it takes, instead of the store's log: for who
  /// counts them. Reading along relationships is no query.
  ///
  /// - Parameter tell: Is given the query in words, without the values of its predicate.
  package func watchQueries(_ tell: @escaping @Sendable (_ entity: String, _ query: String) -> Void)
  {
    let report: @Sendable (QueryWatch.Report) -> Void = { tell($0.entity, $0.query) }
    watch =
      watch?.reporting(from: .zero, report) ?? QueryWatch(threshold: .zero, report)
  }

  /// Throws what a read that cannot throw has met, for who has read through such.
  package func throwDeferredFailure() throws(ArborError) {
    if failure != nil { try reportFailure() }
  }

  /// Lets go of objects that nobody uses, where that is worth a walk over all.
  @inline(__always)
  func sweepWhereDue() {
    if registry.needsSweep(besides: pending.count) { sweep() }
  }

  /// Lets go of objects that nobody uses. Those whose links have edits are told at the commit.
  @inline(never)
  private func sweep() {
    let links = links
    registry.sweep(keeping: links.hasEdits ? { links.hasEdits(of: $0) } : nil)
  }

  @inline(never)
  private func reportFailure() throws(ArborError) {
    guard let failure, !failure.isReported else { return }
    self.failure?.isReported = true
    if !failure.blocksCommits { self.failure = nil }
    throw failure.error
  }

  /// Remembers the error of a call that cannot throw. The first one counts.
  @inline(never)
  func note(_ error: ArborError) {
    if failure == nil || failure?.isReported == true { failure = DeferredFailure(error: error) }
  }

  /// Takes in what a request and its predicates allow, before the operation goes to the store.
  ///
  /// - Throws: `cancelled` where the task is, `deadlineExceeded` where there is no time left.
  @inline(__always)
  func limitOperation(to allowance: WorkAllowance? = nil) throws(ArborError) {
    if let allowance, !allowance.isUnlimited { limit.narrow(allowance) }
    do throws(Interruption) { try limit.checkNow() } catch { throw ArborError(error) }
  }

  /// Runs an operation on the newest snapshot, after taking in the commits up to it.
  func onSnapshot<R>(
    _ body: (StoreSnapshot) throws(StoreError) -> R
  ) throws(ArborError) -> R {
    do throws(StoreError) {
      if let pinned {
        pinned.watch = watch
        pinned.limit = limit
        return try body(pinned)
      }
      guard !store.isClosed else { throw .closed }
      let snapshot = try store.file.snapshot()
      defer { snapshot.close() }
      snapshot.watch = watch
      snapshot.limit = limit
      if snapshot.sequence != sequence { try takeInCommits(upTo: snapshot) }
      return try body(snapshot)
    } catch {
      throw ArborError(error, in: store.file)
    }
  }

  /// Runs `body` on the newest snapshot, after taking in the commits up to it. Operations inside
  /// read the same snapshot.
  func onPinnedSnapshot<R>(
    _ body: (StoreSnapshot) throws(ArborError) -> R
  ) throws(ArborError) -> R {
    if let pinned { return try body(pinned) }
    let snapshot: StoreSnapshot
    do throws(StoreError) {
      guard !store.isClosed else { throw .closed }
      snapshot = try store.file.snapshot()
    } catch {
      throw ArborError(error, in: store.file)
    }
    defer {
      pinned = nil
      snapshot.close()
    }
    snapshot.watch = watch
    snapshot.limit = limit
    do throws(StoreError) {
      if snapshot.sequence != sequence { try takeInCommits(upTo: snapshot) }
    } catch {
      throw ArborError(error, in: store.file)
    }
    pinned = snapshot
    return try body(snapshot)
  }

  /// Reads for a property: on the newest snapshot, taking nothing in.
  func peek<R>(_ body: (StoreSnapshot) throws(StoreError) -> R) throws(ArborError) -> R {
    do throws(StoreError) {
      if let pinned { return try body(pinned) }
      guard !store.isClosed else { throw .closed }
      let snapshot = try store.file.snapshot()
      defer { snapshot.close() }
      return try body(snapshot)
    } catch {
      throw ArborError(error, in: store.file)
    }
  }

  /// Takes in the commits of others that this process knows of, for operations that read nothing
  /// themselves.
  @inline(__always)
  func takeInKnownCommits() throws(ArborError) {
    try store.requireOpen()
    guard store.file.lastSequence != sequence, pinned == nil else { return }
    try onSnapshot { _ in }
  }

  /// Reads a fault's record; returns whether the object has one now.
  func load(_ object: ManagedObject) -> Bool {
    if object.base != nil { return true }
    do throws(ArborError) {
      let found = try peek { snapshot throws(StoreError) in
        noteRead(object.number, on: snapshot)
        return try snapshot.record(object.number, allocator: allocator)
      }
      guard let found else {
        note(missing(object.objectID))
        return false
      }
      object.hold(found, allocator.slab)
    } catch {
      note(error)
      return false
    }
    object.awakeFromFetch()
    return true
  }

  /// Takes down whose record is newer than the commits that have been taken in: reading a property
  /// takes none in. Whoever is told of such a commit later cannot go by the record.
  @inline(__always)
  func noteRead(_ number: ObjectNumber, on snapshot: StoreSnapshot) {
    if snapshot.sequence > sequence, !listeners.isEmpty, automaticallyMergesCommits {
      readAhead.insert(number)
    }
  }

  func missing(_ id: ObjectID) -> ArborError {
    ArborError(
      .objectNotFound,
      "There is no \(id.entityName) \(id.number) in the store: it was deleted or never committed; "
        + "look objects up with existingObject(with:) where that can happen."
    ).with(entity: id.entityName, objectID: id)
  }

  /// Whether an object was inserted in this context and never committed, even if it is deleted
  /// again.
  func isNew(_ number: ObjectNumber) -> Bool {
    guard let change = pending.change(of: number) else { return false }
    return change.committed == nil && change.kind != .updated
  }

  /// Whether an object is deleted in this context.
  func isDeleted(_ number: ObjectNumber) -> Bool {
    pending.change(of: number)?.kind == .deleted
  }
}

/// One object's relationship, which leads to others.
struct LinkSource {
  let owner: ObjectNumber
  let relation: Relation
}

extension ManagedObjectContext {
  /// The members of a to-many relationship with all pending changes: in their order where it is
  /// ordered, else ascending. Never fails; the context remembers the error.
  func members(of owner: ManagedObject, _ relation: Relation) -> [ObjectNumber] {
    owner.owner == nil ? [] : members(of: owner.number, relation)
  }

  /// The members of an object's to-many relationship, whether it is registered or not.
  func members(of owner: ObjectNumber, _ relation: Relation) -> [ObjectNumber] {
    let members = storedMembers(of: owner, relation)
    guard let edit = links.edit(owner, relation), !edit.isSilent else { return members }
    return edit.members(over: members)
  }

  /// The number of members with all pending changes, without reading them.
  func memberCount(of owner: ManagedObject, _ relation: Relation) -> Int {
    guard owner.owner != nil else { return 0 }
    let edit = links.edit(owner.number, relation)
    guard owner.change?.kind != .inserted else { return edit?.added.count ?? 0 }
    return known(0) { snapshot throws(StoreError) in
      var count = try snapshot.memberCount(relation.schema, of: owner.number)
      for member in edit?.removedMembers ?? [] {
        let wasMember = try snapshot.contains(member, in: relation.schema, of: owner.number)
        if wasMember { count -= 1 }
      }
      for member in edit?.added.numbers ?? [] {
        if pending.change(of: member)?.kind == .inserted {
          count += 1
        } else {
          let wasMember = try snapshot.contains(member, in: relation.schema, of: owner.number)
          if !wasMember { count += 1 }
        }
      }
      return count
    }
  }

  /// Whether an object is a member, without reading the members.
  func isMember(
    _ member: ManagedObject, of owner: ManagedObject, _ relation: Relation
  ) -> Bool {
    guard owner.owner != nil else { return false }
    if let answer = links.edit(owner.number, relation)?.says(member.number) { return answer }
    guard owner.change?.kind != .inserted, member.change?.kind != .inserted else { return false }
    return known(false) { snapshot throws(StoreError) in
      try snapshot.contains(member.number, in: relation.schema, of: owner.number)
    }
  }

  /// The members that the store knows; none of an object that was never committed.
  func storedMembers(of owner: ObjectNumber, _ relation: Relation) -> [ObjectNumber] {
    guard pending.change(of: owner)?.kind != .inserted else { return [] }
    if let known = memberships.members(of: owner, relation) { return Array(known) }
    return known([]) { snapshot throws(StoreError) in
      try snapshot.members(relation.schema, of: owner)
    }
  }

  /// The objects of numbers in their order, those that are not registered read on one snapshot.
  /// Never fails; the context remembers the error.
  ///
  /// Objects that others have deleted since the numbers were read are left out.
  ///
  /// - Parameter link: What leads to them; nil where they have been looked up.
  func objects(_ numbers: [ObjectNumber], of link: LinkSource?) -> [ManagedObject] {
    var fetched = FetchedObjects()
    var words = registry.map.words(of: numbers)
    if words.contains(0) {
      do throws(ArborError) { try register(numbers, of: link, &fetched) } catch { note(error) }
      words = registry.map.words(of: numbers)
    }
    var objects: [ManagedObject] = []
    objects.reserveCapacity(numbers.count)
    registry.forEach(of: words) { objects.append($0) }
    fetched.awake()
    return objects
  }

  /// Whether the store has a link.
  private func leads(
    _ link: LinkSource, to target: ObjectNumber, on snapshot: StoreSnapshot
  ) throws(StoreError) -> Bool {
    guard let field = link.relation.field else {
      return try snapshot.contains(target, in: link.relation.schema, of: link.owner)
    }
    let record = try snapshot.record(link.owner, allocator: allocator)
    return record?.reference(field) == target
  }

  /// Reads the objects that are not registered.
  private func register(
    _ numbers: [ObjectNumber], of link: LinkSource?, _ fetched: inout FetchedObjects
  ) throws(ArborError) {
    var missing = numbers.filter { !registry.map.contains($0) }.map(\.rawValue)
    SortedNumbers.sortUnique(&missing)
    let objects = missing.map { ObjectNumber(rawValue: $0) }
    try peek { snapshot throws(StoreError) in
      for number in objects { noteRead(number, on: snapshot) }
      try load(objects, on: snapshot, &fetched)
      guard let link else { return }
      for lost in objects where !registry.map.contains(lost) {
        guard try leads(link, to: lost, on: snapshot) else { continue }
        throw .corrupted(
          entity: binding(of: lost)?.entity.name, object: lost,
          what: "a relationship leads to an object that is not there")
      }
    }
  }
}

/// What the store knows, for everything that goes by numbers. Never fails; the context remembers
/// the error.
extension ManagedObjectContext {
  /// Whether there is an object, with all pending changes.
  func exists(_ number: ObjectNumber) -> Bool {
    if let change = pending.change(of: number) { return change.kind != .deleted }
    return known(false) { snapshot throws(StoreError) in try snapshot.exists(number) }
  }

  /// Whether the store has a member in a relationship that is kept as links.
  func isStored(_ member: ObjectNumber, in relation: Relation, of owner: ObjectNumber) -> Bool {
    guard !isNew(owner), !isNew(member) else { return false }
    return known(false) { snapshot throws(StoreError) in
      try snapshot.contains(member, in: relation.schema, of: owner)
    }
  }

  /// The record that the store has of an object, in memory that the slab keeps; nil where it has
  /// none.
  func storedRecord(of number: ObjectNumber) -> (record: RecordView, slab: RecordSlab)? {
    let record = known(RecordView?.none) { snapshot throws(StoreError) in
      try snapshot.record(number, allocator: allocator)
    }
    return record.map { ($0, allocator.slab) }
  }

  /// What `read` gives, or `otherwise` where the store fails.
  @inline(__always)
  func known<R>(
    _ otherwise: R, _ read: (StoreSnapshot) throws(StoreError) -> R
  ) -> R {
    do throws(ArborError) { return try peek(read) } catch {
      note(error)
      return otherwise
    }
  }
}
