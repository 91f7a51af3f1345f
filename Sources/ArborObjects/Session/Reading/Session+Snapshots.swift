internal import ArborModel
internal import ArborStore

/// Reading the store, for operations and for single properties.
extension Session {
  /// Remembers the error of a call that cannot throw. The first one counts.
  @inline(never)
  func note(_ error: StoreError) {
    if failure == nil || failure?.isReported == true { failure = DeferredFailure(error: error) }
  }

  /// Takes a snapshot: the pinned one, else the newest. ``release(_:)`` gives it back.
  ///
  /// - Parameter merging: Whether the commits up to exactly that one are merged first, and the
  ///   limits of the operation hold. Reads of properties merge nothing.
  @inline(__always)
  func takeSnapshot(merging: Bool) throws(StoreError) -> StoreSnapshot {
    if let pinned {
      if merging { prepare(pinned) }
      return pinned
    }
    guard !isClosed else { throw .closed }
    let snapshot = try file.snapshot()
    if merging {
      prepare(snapshot)
      if snapshot.sequence != sequence { try mergeCommits(before: snapshot) }
    }
    return snapshot
  }

  private func prepare(_ snapshot: StoreSnapshot) {
    snapshot.watch = watch
    snapshot.limit = limit
    snapshot.locale = locale
  }

  @inline(never)
  private func mergeCommits(before snapshot: StoreSnapshot) throws(StoreError) {
    // Merging reads the same commit that it merges up to, as does code that is notified of it.
    pinned = snapshot
    defer { pinned = nil }
    do throws(StoreError) { try mergeCommits(upTo: snapshot) } catch {
      snapshot.close()
      throw error
    }
  }

  /// Gives a snapshot back; a pinned one stays.
  func release(_ snapshot: StoreSnapshot) {
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

  /// Runs `body`, which cannot throw, with one snapshot for all reads: the pinned one, else the
  /// newest. Runs it without one if the store can't be read, and remembers the error.
  ///
  /// - Parameter merging: As in ``takeSnapshot(merging:)``.
  func withOneSnapshot(merging: Bool, _ body: () -> Void) {
    guard pinned == nil else { return body() }
    var snapshot: StoreSnapshot?
    do throws(StoreError) { snapshot = try takeSnapshot(merging: merging) } catch { note(error) }
    pinning(snapshot, body)
    if reloaded != nil { finishReloading() }
  }

  /// Moves an open view to the newest commit, after one of this context.
  func advanceView() {
    guard isInView, let view = pinned else { return }
    pinned = nil
    do throws(StoreError) {
      pinned = try takeSnapshot(merging: true)
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
    var snapshot: StoreSnapshot?
    do throws(StoreError) { snapshot = try file.snapshot() } catch { note(error) }
    return try pinning(snapshot, body)
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
    let snapshot = try takeSnapshot(merging: false)
    defer { release(snapshot) }
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

  /// Notes that a record is newer than the merged commits, since reading a property merges none.
  /// Listeners that are notified of such a commit later cannot compare with the record.
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
}
