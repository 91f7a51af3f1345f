internal import ArborModel

/// The identity map of a context: one object per number, held strongly.
///
/// Objects without changes or other references are swept when the number of unchanged objects has
/// doubled. This happens at the start of operations on the context's own thread, so that no
/// object's `deinit` has to find its context.
///
/// Memory safety: each word of the map is the address of an object and owns one retain of it, which
/// is released exactly once, when the word leaves the map.
final class ObjectRegistry {
  let map = NumberMap()
  private var sweepCount = leastSweepCount

  /// The minimum number of unchanged objects for a sweep. With fewer, a sweep costs more than the
  /// freed memory is worth.
  private static let leastSweepCount = 4096

  @inline(__always)
  var count: Int { map.count }

  @inline(__always)
  func object(_ number: ObjectNumber) -> ManagedObject? {
    map[number].flatMap(Self.object)
  }

  /// Returns the numbers whose object is not registered or is a fault, and whether none of them is
  /// registered.
  func unread(_ numbers: [ObjectNumber]) -> (numbers: [ObjectNumber], areNew: Bool) {
    let words = map.words(of: numbers)
    var unread: [ObjectNumber] = []
    var areNew = true
    for (number, word) in zip(numbers, words) {
      if let object = Self.object(word) {
        if object.base != nil { continue }
        areNew = false
      }
      unread.append(number)
    }
    return (unread, areNew)
  }

  @inline(__always)
  func register(_ object: ManagedObject) {
    map.set(object.number, UInt(bitPattern: Unmanaged.passRetained(object).toOpaque()))
  }

  /// Registers an object that has just been created and has no other references.
  @inline(__always)
  func registerNew(_ object: ManagedObject) {
    map.set(object.number, UInt(bitPattern: BulkRetain.retainNew(object)))
  }

  /// Removes an object, which the caller must retain.
  func unregister(_ object: ManagedObject) {
    if let word = map.remove(object.number) { Self.release(word) }
  }

  func reserve(_ additional: Int) { map.reserveCapacity(map.count + additional) }

  /// Calls `body` with every object. The registry must not change in the meantime.
  func forEach(_ body: (ManagedObject) -> Void) {
    map.forEach { _, word in
      if let object = Self.object(word) { body(object) }
    }
  }

  /// Calls `body` with the objects of words returned by the map, in order, skipping 0. The registry
  /// must not change in the meantime.
  ///
  /// Prefetches the memory of subsequent objects and then of their records.
  func forEach(of words: ContiguousArray<UInt>, _ body: (ManagedObject) -> Void) {
    for index in words.indices {
      if index + NumberMap.lookahead < words.count {
        NumberMap.prefetch(words[index + NumberMap.lookahead])
      }
      if index + 6 < words.count, let object = Self.object(words[index + 6]) {
        let record = UInt(bitPattern: object.base)
        NumberMap.prefetch(record)
        NumberMap.prefetch(record &+ 64)
      }
      if let object = Self.object(words[index]) { body(object) }
    }
  }

  /// An arbitrary object, or `nil` if there are none. Takes linear time.
  var first: ManagedObject? {
    var first: ManagedObject?
    forEach { if first == nil { first = $0 } }
    return first
  }

  /// All objects, for loops that modify the registry.
  var objects: [ManagedObject] {
    var objects: [ManagedObject] = []
    objects.reserveCapacity(count)
    forEach { objects.append($0) }
    return objects
  }

  /// Detaches and releases every object.
  func forgetAll() {
    map.forEachAddress { _, word in
      guard let pointer = UnsafeRawPointer(bitPattern: word) else { return }
      let object = Unmanaged<ManagedObject>.fromOpaque(pointer)
      object._withUnsafeGuaranteedRef { $0.detach(.forgotten) }
      object.release()
    }
    map.removeAll()
    sweepCount = Self.leastSweepCount
  }

  /// Informs the registry that many objects have lost the pending changes that kept them from being
  /// swept.
  func noteSettled(_ settledCount: Int) {
    if settledCount > count / 4 { sweepCount = Self.leastSweepCount }
  }

  /// Returns whether there may be enough unused objects to make a sweep worthwhile.
  ///
  /// - Parameter changedCount: The number of objects with changes, which are kept.
  @inline(__always)
  func needsSweep(besides changedCount: Int) -> Bool {
    map.count - changedCount >= sweepCount
  }

  /// Releases unchanged objects without other references.
  ///
  /// - Parameter isNeeded: A closure that returns whether an unused object must be kept, or `nil`
  ///   to release all of them.
  func sweep(keeping isNeeded: ((ManagedObject) -> Bool)? = nil) {
    var unused: [ObjectNumber] = []
    map.forEachAddress { number, word in
      guard Self.isUnused(word) else { return }
      if let isNeeded, let object = Self.object(word), isNeeded(object) { return }
      unused.append(number)
    }
    if unused.count > count / 2 {
      removeMost(unused)
    } else {
      for number in unused {
        if let word = map.remove(number) { Self.release(word) }
      }
    }
    sweepCount = max(Self.leastSweepCount, count * 2)
  }

  /// Rebuilds the map with the used objects, which is cheaper than removing most of them one by
  /// one.
  private func removeMost(_ unused: [ObjectNumber]) {
    for number in unused {
      guard let word = map[number] else { continue }
      Self.release(word)
      map.set(number, 0)
    }
    var kept: [(ObjectNumber, UInt)] = []
    map.forEach { number, word in
      if word != 0 { kept.append((number, word)) }
    }
    // In place, because running queries hold the map itself; see ``PendingState``.
    map.removeAll()
    for (number, word) in kept { map.set(number, word) }
  }

  private static func isUnused(_ word: UInt) -> Bool {
    guard let object = object(word), object.change == nil else { return false }
    _ = consume object
    // The word is a strong reference, so its reference count can be checked in place.
    var word = word
    return withUnsafeMutablePointer(to: &word) { pointer in
      pointer.withMemoryRebound(to: ManagedObject.self, capacity: 1) {
        isKnownUniquelyReferenced(&$0.pointee)
      }
    }
  }

  @inline(__always)
  private static func object(_ word: UInt) -> ManagedObject? {
    UnsafeRawPointer(bitPattern: word).map {
      Unmanaged<ManagedObject>.fromOpaque($0).takeUnretainedValue()
    }
  }

  private static func release(_ word: UInt) {
    if let pointer = UnsafeRawPointer(bitPattern: word) {
      Unmanaged<ManagedObject>.fromOpaque(pointer).release()
    }
  }
}
