public import ArborFoundation
internal import ArborLocks
public import ArborModel
internal import ArborStore
internal import Logging

extension PersistentStore {
  /// Reads the whole file immediately and checks it for damage: every page, the checksum of every
  /// record and large binary value, and whether every record, index entry and link is as the
  /// commits left it. The latter also detects pages of an earlier state.
  ///
  /// An open store does this by itself, at low priority, if the last scrub is older than
  /// ``StoreOptions/scrubInterval``. Unlike ``check()`` it doesn't cross-check records, indexes and
  /// links, and needs no memory for that.
  ///
  /// Blocks for about a second per few hundred megabytes. The store can be read and written in the
  /// meantime. Pages freed by commits aren't reused while the part of the file that contains them
  /// is being read. Stops promptly if the task is cancelled.
  ///
  /// ```swift
  /// try store.scrub { fraction in print("\(Int(fraction * 100)) %") }
  /// ```
  ///
  /// - Parameter progress: A closure that receives the fraction of the databases that has been
  ///   read, from 0 to 1, on the calling thread.
  /// - Throws: ``ArborError`` `corrupted` with the first damage found, after which the store
  ///   refuses commits; `cancelled`, `closed`, `modelChanged`, `migrationUnderWay`, `diskFull`,
  ///   `inputOutput`.
  public func scrub(_ progress: (@Sendable (Double) -> Void)? = nil) throws(ArborError) {
    try whileOpen(engine.scrub { progress?(Double($0.done) / Double($0.total)) })
  }

  /// Returns the date when the whole file was last read without finding damage, by ``scrub(_:)`` or
  /// by a background scrub, or `nil` if it never was. A store that is opened read-only doesn't
  /// record the date.
  ///
  /// - Throws: ``ArborError`` `closed`, `corrupted`, `modelChanged`, `inputOutput`.
  public func lastScrub() throws(ArborError) -> Date? { try whileOpen(engine.lastScrub()) }

  /// Logs damage found by background scrubs.
  func logDamage() {
    // Unowned rather than weak, because a weak reference would slow down the engine's reference
    // counting permanently. This is safe: the engine owns the closure, and code that reports damage
    // retains the engine.
    engine.onDamage { [unowned engine] error in
      var metadata: Logger.Metadata = [:]
      if let path = engine.path { metadata["path"] = "\(path)" }
      Self.damageLogger.error("\(ArborError(error, in: engine))", metadata: metadata)
    }
  }

  private static let damageLogger = Logger(label: "ArborData.damage")
}
