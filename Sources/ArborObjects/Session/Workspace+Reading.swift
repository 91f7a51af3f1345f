internal import ArborModel
internal import ArborStore

/// Reading the store, for operations and for single properties.
extension Workspace {
  /// Remembers the error of a call that cannot throw. The first one counts.
  @inline(never)
  func note(_ error: StoreError) {
    if failure == nil || failure?.isReported == true { failure = DeferredFailure(error: error) }
  }

  /// Returns the snapshot of an operation, within the operation's limits: the pinned one, else the
  /// newest, after merging the commits up to exactly that one. ``end(_:)`` gives it back.
  func operationSnapshot() throws(StoreError) -> StoreSnapshot {
    let snapshot = try snapshot()
    snapshot.watch = watch
    snapshot.limit = limit
    snapshot.locale = locale
    if snapshot !== pinned, snapshot.sequence != sequence {
      // Merging reads the same commit that it merges up to, as does code that is notified of it.
      pinned = snapshot
      defer { pinned = nil }
      do throws(StoreError) { try takeInCommits(upTo: snapshot) } catch {
        snapshot.close()
        throw error
      }
    }
    return snapshot
  }

  /// The snapshot of a read for a property: the pinned one, else the newest, taking nothing in.
  /// ``end(_:)`` gives it back.
  func snapshot() throws(StoreError) -> StoreSnapshot {
    if let pinned { return pinned }
    guard !isClosed else { throw .closed }
    return try file.snapshot()
  }

  /// Gives a snapshot back; a pinned one stays.
  func end(_ snapshot: StoreSnapshot) {
    guard snapshot !== pinned else { return }
    snapshot.close()
    if hasReloaded { finishReloading() }
  }

  /// Calls the hooks of objects that were read again when commits were merged.
  @inline(never)
  func finishReloading() {
    hasReloaded = false
    host.didReload()
  }

  /// Runs `body`, an operation that cannot throw, on the pinned snapshot, else on the newest, after
  /// merging the commits up to it. Runs it without a snapshot if the store can't be read, and
  /// remembers the error.
  func withOperationSnapshot(_ body: () -> Void) {
    guard pinned == nil else { return body() }
    let snapshot: StoreSnapshot
    do throws(StoreError) { snapshot = try operationSnapshot() } catch {
      note(error)
      return body()
    }
    pinning(snapshot, body)
    if hasReloaded { finishReloading() }
  }

  /// Runs `body`, which reads a property in several steps, on the pinned snapshot, else on the
  /// newest, without merging anything.
  func withPropertySnapshot(_ body: () -> Void) {
    guard pinned == nil else { return body() }
    let snapshot: StoreSnapshot
    do throws(StoreError) { snapshot = try self.snapshot() } catch { return note(error) }
    pinning(snapshot, body)
  }

  /// Moves an open view to the newest commit, after one of this context.
  func advanceView() {
    guard isInView, let view = pinned else { return }
    pinned = nil
    do throws(StoreError) {
      pinned = try operationSnapshot()
      view.close()
    } catch {
      pinned = view
      note(error)
    }
    if hasReloaded { finishReloading() }
  }

  /// Runs `body` with the newest snapshot for all reads, whatever other one is pinned.
  func onNewestSnapshot<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    memberships.removeAll()
    return try pinning(newestSnapshot(), body)
  }

  private func newestSnapshot() -> StoreSnapshot? {
    do throws(StoreError) { return try file.snapshot() } catch {
      note(error)
      return nil
    }
  }

  /// Runs `body` with a snapshot for all reads, which is closed then; nil: with the present one.
  func pinning<R, E: Error>(
    _ snapshot: StoreSnapshot?, _ body: () throws(E) -> R
  ) throws(E) -> R {
    guard let snapshot else { return try body() }
    let outer = pinned
    pinned = snapshot
    defer {
      // A commit in a view has put a newer snapshot in its place.
      pinned?.close()
      pinned = outer
    }
    return try body()
  }

  /// Runs `body` in a view that begins with a snapshot.
  func viewing<R, E: Error>(
    _ snapshot: StoreSnapshot, _ body: () throws(E) -> R
  ) throws(E) -> R {
    isInView = true
    defer { isInView = false }
    return try pinning(snapshot) { () throws(E) in
      if hasReloaded { finishReloading() }
      return try body()
    }
  }

  /// Reads for a property: on the newest snapshot, taking nothing in.
  func peek<R>(_ body: (StoreSnapshot) throws(StoreError) -> R) throws(StoreError) -> R {
    let snapshot = try snapshot()
    defer { end(snapshot) }
    return try body(snapshot)
  }

  /// Takes in the concurrent commits that this process knows of, for operations that read nothing
  /// themselves.
  func takeInKnownCommits() throws(StoreError) {
    guard !isClosed else { throw .closed }
    guard file.lastSequence != sequence, pinned == nil else { return }
    end(try operationSnapshot())
  }

  /// Reads a fault's record; returns whether the object has one now.
  func load(_ object: TrackedObject) -> Bool {
    if object.base != nil { return true }
    do throws(StoreError) {
      let found = try peek { snapshot throws(StoreError) in
        noteRead(object.number, on: snapshot)
        return try snapshot.record(object.number, allocator: allocator)
      }
      guard let found else {
        note(host.missing(object))
        return false
      }
      object.hold(found, allocator.slab)
    } catch {
      note(error)
      return false
    }
    host.didLoad(object)
    return true
  }

  /// Records whose record is newer than the commits that have been taken in: reading a property
  /// takes none in. Listeners that are told of such a commit later cannot go by the record.
  @inline(__always)
  func noteRead(_ number: ObjectNumber, on snapshot: StoreSnapshot) {
    if snapshot.sequence > sequence, !listeners.isEmpty, takesInCommits {
      readAhead.insert(number)
    }
  }

  /// Whether an object was inserted in this context and never committed, even if it is deleted
  /// again.
  func isNew(_ number: ObjectNumber) -> Bool {
    guard let change = pending.change(of: number) else { return false }
    return change.committed == nil && change.kind != .updated
  }

  func isDeleted(_ number: ObjectNumber) -> Bool {
    pending.change(of: number)?.kind == .deleted
  }
}

/// From numbers to objects and shapes. Numbers that were read from the file may be of no entity, or
/// of one that nobody expects, where the file was forged.
extension Workspace {
  /// The object of a number: the registered one, or a fault. Never fails: nil where the number is
  /// of no entity, and the workspace remembers the error.
  @inline(__always)
  func fault(_ number: ObjectNumber) -> TrackedObject? {
    if let object = registry.object(number) { return object }
    return makeFault(number)
  }

  @inline(never)
  func makeFault(_ number: ObjectNumber) -> TrackedObject? {
    do throws(StoreError) { return try host.makeObject(number, nil, nil) } catch {
      note(error)
      return nil
    }
  }

  /// Whether a number is of an entity that a relationship leads to; otherwise the file was forged,
  /// and the workspace remembers the error.
  func admits(_ target: ObjectNumber, of owner: TrackedObject, _ relation: Relation) -> Bool {
    relation.leads(to: target) || refuse(target, of: owner, relation)
  }

  @inline(never)
  func refuse(
    _ target: ObjectNumber, of owner: TrackedObject, _ relation: Relation
  ) -> Bool {
    note(
      .corrupted(
        entity: owner.shape.entity.name, object: owner.number,
        what: "The relationship \(relation.name) leads to object number \(target.rawValue), which "
          + "is of no entity that it leads to."))
    return false
  }

  /// The relationship that an object's entity has in a slot.
  func relation(of number: ObjectNumber, _ slot: Int) -> Relation? {
    guard let shape = host.shape(of: number), shape.relations.indices.contains(slot) else {
      return nil
    }
    return shape.relations[slot]
  }
}

/// The members of relationships.
extension Workspace {
  /// The members of a to-many relationship with all pending changes: in their order where it is
  /// ordered, else ascending. Never fails; the context remembers the error.
  func members(of owner: TrackedObject, _ relation: Relation) -> [ObjectNumber] {
    owner.workspace == nil ? [] : members(of: owner.number, relation)
  }

  /// The members of an object's to-many relationship, whether it is registered or not.
  func members(of owner: ObjectNumber, _ relation: Relation) -> [ObjectNumber] {
    let members = storedMembers(of: owner, relation)
    guard let edit = links.edit(owner, relation), !edit.isSilent else { return members }
    return edit.members(over: members)
  }

  /// The number of members with all pending changes, without reading them.
  func memberCount(of owner: TrackedObject, _ relation: Relation) -> Int {
    guard owner.workspace != nil else { return 0 }
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
    _ member: TrackedObject, of owner: TrackedObject, _ relation: Relation
  ) -> Bool {
    guard owner.workspace != nil else { return false }
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
}

/// What the store knows, for everything that goes by numbers. Never fails; the context remembers
/// the error.
extension Workspace {
  /// Whether there is an object, with all pending changes.
  func exists(_ number: ObjectNumber) -> Bool {
    if let change = pending.change(of: number) { return change.kind != .deleted }
    return known(false) { snapshot throws(StoreError) in try snapshot.exists(number) }
  }

  /// Whether the store has a member in a relationship that is kept as links.
  func isStored(_ member: ObjectNumber, in relation: Relation, of owner: ObjectNumber)
    -> Bool
  {
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
    do throws(StoreError) { return try peek(read) } catch {
      note(error)
      return otherwise
    }
  }
}

/// What waits, as fetches lay it over the store.
extension Workspace {
  /// The pending changes as fetches see them; nil where there is nothing to lay over the store.
  var overlay: FetchOverlay? {
    guard pending.count > 0 || registry.count > 0 else { return nil }
    if let madeOverlay { return madeOverlay }
    let overlay = FetchOverlay(
      dirty: pending.map, known: registry.map,
      pendingRows: { [unowned(unsafe) self] in pending.rows(of: $0, $1) },
      pendingRecord: { [unowned(unsafe) self] in pending.record(of: $0) },
      isDeleted: { [unowned(unsafe) self] in pending.change(of: $0)?.kind == .deleted },
      links: { [unowned(unsafe) self] owner, relationship in
        relation(of: owner, relationship.slot).flatMap { links.edit(owner, $0) }
          .flatMap { $0.isSilent ? nil : $0 }
      },
      touches: { [unowned(unsafe) self] entity in touches(entity) },
      blob: { [unowned(unsafe) self] in host.unstoredBlob($0) })
    // The overlay lives no longer than the workspace, which owns it.
    madeOverlay = overlay
    return overlay
  }

  /// Whether any object of an entity's family waits for a commit, or has links that do.
  private func touches(_ entity: EntitySchema) -> Bool {
    if entity.concreteFamily.contains(where: { pending.hasChanges(ofEntity: $0) }) {
      return true
    }
    return links.hasEdits { owner in
      schema.entity(of: owner).map { entity.concreteFamily.contains($0.index) } ?? false
    }
  }
}
