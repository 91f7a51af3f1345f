internal import ArborModel
internal import ArborStore

/// Snapshots of the store, for operations and for reading individual properties.
extension Session {
  // MARK: For operations

  /// Runs `body` on the newest snapshot, after merging the commits up to exactly that one.
  func onSnapshot<R>(_ body: (StoreSnapshot) throws(StoreError) -> R) throws(ArborError) -> R {
    do throws(StoreError) {
      let snapshot = try takeSnapshot(merging: true)
      defer { release(snapshot) }
      return try body(snapshot)
    } catch {
      throw ArborError(error, in: engine)
    }
  }

  /// Runs `body` like ``onSnapshot(_:)``. All reads inside use the same snapshot, including those
  /// of properties and other operations.
  func onPinnedSnapshot<R>(
    _ body: (StoreSnapshot) throws(ArborError) -> R
  ) throws(ArborError) -> R {
    if let pinned { return try body(pinned) }
    let snapshot = try engine.reporting(takeSnapshot(merging: true))
    defer { if reloaded != nil { finishReloading() } }
    return try pinning(snapshot) { () throws(ArborError) in try body(snapshot) }
  }

  /// Runs `body` on one snapshot of the store. See ``ManagedObjectContext/withSnapshot(_:)``.
  func withSnapshot<R>(_ body: () throws -> R) throws -> R {
    try beginOperation()
    let result =
      pinned == nil
      ? try viewing(engine.reporting(takeSnapshot(merging: true)), body) : try body()
    try throwDeferredFailure()
    return result
  }

  // MARK: One snapshot

  /// Returns a snapshot: the pinned one, otherwise the newest. It must be returned with
  /// ``release(_:)``.
  ///
  /// - Parameter merging: `true` for operations: merges the commits up to exactly this snapshot
  ///   first, and sets the session's limit, watch and locale on it. Reading properties
  ///   does neither.
  @inline(__always)
  func takeSnapshot(merging: Bool) throws(StoreError) -> StoreSnapshot {
    if let pinned {
      if merging { prepare(pinned) }
      return pinned
    }
    guard !isClosed else { throw .closed }
    let snapshot = try engine.snapshot()
    if merging {
      prepare(snapshot)
      if snapshot.sequence != sequence { try catchUp(with: snapshot) }
    }
    return snapshot
  }

  private func prepare(_ snapshot: StoreSnapshot) {
    snapshot.watch = watch
    snapshot.limit = limit
    snapshot.locale = locale
  }

  /// Merges the commits up to a snapshot, which is closed if that fails.
  @inline(never)
  private func catchUp(with snapshot: StoreSnapshot) throws(StoreError) {
    // Merging must read from the snapshot it merges up to, and so must code that is notified of the
    // merge.
    pinned = snapshot
    defer { pinned = nil }
    do throws(StoreError) { try mergeCommits(upTo: snapshot) } catch {
      snapshot.close()
      throw error
    }
  }

  /// Releases a snapshot, unless it is pinned.
  func release(_ snapshot: StoreSnapshot) {
    guard snapshot !== pinned else { return }
    snapshot.close()
    if reloaded != nil { finishReloading() }
  }

  /// Calls the hooks of objects that were reloaded while merging commits.
  @inline(never)
  func finishReloading() {
    let objects = reloaded
    reloaded = nil
    objects?.awake()
  }

  /// Runs nonthrowing code with one snapshot for all reads: the pinned one, otherwise the newest.
  /// If the store cannot be read, runs it without one and records the error.
  ///
  /// - Parameter merging: As in ``takeSnapshot(merging:)``.
  func withOneSnapshot(merging: Bool, _ body: () -> Void) {
    guard pinned == nil else { return body() }
    var snapshot: StoreSnapshot?
    do throws(StoreError) { snapshot = try takeSnapshot(merging: merging) } catch { note(error) }
    pinning(snapshot, body)
    if reloaded != nil { finishReloading() }
  }

  /// Advances an open `withSnapshot` to the newest commit after a commit of this context.
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

  /// Runs `body` with the newest snapshot for all reads, even if another one is pinned.
  func onNewestSnapshot<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    memberships.removeAll()
    var snapshot: StoreSnapshot?
    do throws(StoreError) { snapshot = try engine.snapshot() } catch { note(error) }
    return try pinning(snapshot, body)
  }

  /// Runs `body` with a snapshot for all reads, and closes it afterwards. If it is `nil`, uses the
  /// current one.
  func pinning<R, E: Error>(
    _ snapshot: StoreSnapshot?, _ body: () throws(E) -> R
  ) throws(E) -> R {
    guard let snapshot else { return try body() }
    let outer = pinned
    pinned = snapshot
    defer {
      // A commit inside `withSnapshot` may have replaced it with a newer one.
      pinned?.close()
      pinned = outer
    }
    return try body()
  }

  /// Runs `body` in a `withSnapshot` that starts with a snapshot.
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

  /// Runs `body`, which reads the value of a property, with the pinned or newest snapshot. Doesn't
  /// merge commits.
  func peek<R>(_ body: (StoreSnapshot) throws(StoreError) -> R) throws(StoreError) -> R {
    let snapshot = try takeSnapshot(merging: false)
    defer { release(snapshot) }
    return try body(snapshot)
  }
}
