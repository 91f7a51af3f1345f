import Synchronization

/// Finds out whether a type has a hook of its own. Those that have none are not asked again: a hook
/// costs, as where all of an item's JSON has to be shown to it.
enum ModelHook: Sendable {
  /// Whether a hook is known to do nothing; nil until it was called.
  typealias IsIdle = Bool?

  private final class Probe: Sendable {
    let isDefault = Atomic(false)
  }

  @TaskLocal private static var probe: Probe?

  /// The implementation that every model has at first calls this.
  static func noteDefault() { probe?.isDefault.store(true, ordering: .relaxed) }

  /// Calls a hook and notes whether that was the implementation that every model has at first.
  static func call<R>(noting isIdle: inout IsIdle, _ hook: () throws -> R) rethrows -> R {
    guard isIdle == nil else { return try hook() }
    let probe = Probe()
    let result = try $probe.withValue(probe, operation: hook)
    isIdle = probe.isDefault.load(ordering: .relaxed)
    return result
  }
}
