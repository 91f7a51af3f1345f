package import ArborFoundation
internal import ArborLocks
package import ArborModel

/// The large binary values that commits of this process have removed from the store, although
/// contexts have pending changes of their objects and may have to write the values again: under a
/// merge policy that prefers the context's values, or to restore a deleted object.
///
/// A value is kept only while a ``BlobHold`` contains its object, so an ordinary commit, whose
/// objects no other context has changed, keeps nothing.
package final class RetainedBlobs: Sendable {
  private struct State {
    var holders: [ObjectNumber: Set<ObjectIdentifier>] = [:]
    var values: [ObjectNumber: [BlobKey: Data]] = [:]
  }

  private let state = Lock(State())

  /// Returns a removed value, or `nil` if it is not kept.
  package subscript(key: BlobKey) -> Data? {
    state.withLock { $0.values[key.name.number]?[key] }
  }

  /// Returns the kept values of an object.
  package func values(of number: ObjectNumber) -> [BlobKey: Data] {
    state.withLock { $0.values[number] ?? [:] }
  }

  /// Returns whether anyone but `holder` may need the values of an object.
  func isNeeded(_ number: ObjectNumber, besides holder: ObjectIdentifier?) -> Bool {
    state.withLock { state in
      guard let holders = state.holders[number] else { return false }
      return holders.contains { $0 != holder }
    }
  }

  func keep(_ data: Data, _ key: BlobKey) {
    state.withLock { state in
      guard state.holders[key.name.number] != nil else { return }
      state.values[key.name.number, default: [:]][key] = data
    }
  }

  fileprivate func add(_ number: ObjectNumber, _ holder: ObjectIdentifier) {
    state.withLock { _ = $0.holders[number, default: []].insert(holder) }
  }

  fileprivate func remove(_ numbers: Set<ObjectNumber>, _ holder: ObjectIdentifier) {
    state.withLock { state in
      for number in numbers {
        state.holders[number]?.remove(holder)
        guard state.holders[number]?.isEmpty == true else { continue }
        state.holders[number] = nil
        state.values[number] = nil
      }
    }
  }
}

/// The objects whose removed binary values one context may need. Ends with its last reference.
package final class BlobHold {
  private let blobs: RetainedBlobs
  package private(set) var numbers: Set<ObjectNumber> = []

  package init(_ engine: StoreEngine) { blobs = engine.retainedBlobs }

  deinit { blobs.remove(numbers, ObjectIdentifier(self)) }

  package func insert(_ number: ObjectNumber) {
    if numbers.insert(number).inserted { blobs.add(number, ObjectIdentifier(self)) }
  }
}
