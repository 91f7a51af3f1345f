internal import Synchronization

/// Counts what several threads do at once.
final class UseCounter: Sendable {
  private let count = Atomic<Int>(0)

  var value: Int { count.load(ordering: .relaxed) }

  @inline(__always)
  func increment() { count.add(1, ordering: .relaxed) }
}
