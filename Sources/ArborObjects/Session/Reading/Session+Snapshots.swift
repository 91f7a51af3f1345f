internal import ArborModel
internal import ArborStore

/// Reading the store, for operations and for single properties.
extension Session {
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
      do throws(StoreError) { try mergeCommits(upTo: snapshot) } catch {
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
    if reloaded != nil { finishReloading() }
  }

  /// Calls the hooks of objects that were read again when commits were merged.
  @inline(never)
  func finishReloading() {
    let objects = reloaded
    reloaded = nil
    objects?.awake()
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
    if reloaded != nil { finishReloading() }
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
    if reloaded != nil { finishReloading() }
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
      if reloaded != nil { finishReloading() }
      return try body()
    }
  }

  /// Reads for a property: on the newest snapshot, taking nothing in.
  func peek<R>(_ body: (StoreSnapshot) throws(StoreError) -> R) throws(StoreError) -> R {
    let snapshot = try snapshot()
    defer { end(snapshot) }
    return try body(snapshot)
  }

  /// Reads a fault's record; returns whether the object has one now.
  func load(_ object: ManagedObject) -> Bool {
    if object.base != nil { return true }
    do throws(StoreError) {
      let found = try peek { snapshot throws(StoreError) in
        noteRead(object.number, on: snapshot)
        return try snapshot.record(object.number, allocator: allocator)
      }
      guard let found else {
        note(.query(.missing(object.objectID)))
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

  /// Records whose record is newer than the commits that have been taken in: reading a property
  /// takes none in. Listeners that are told of such a commit later cannot go by the record.
  @inline(__always)
  func noteRead(_ number: ObjectNumber, on snapshot: StoreSnapshot) {
    if snapshot.sequence > sequence, !listeners.isEmpty, mergesCommits {
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
