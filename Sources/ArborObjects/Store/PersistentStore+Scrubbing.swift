internal import ArborLocks
public import ArborModel
internal import ArborStore
public import Foundation
internal import Logging

extension PersistentStore {
  /// Reads the store's file as a whole at once and looks for damage: every page, the checksum of
  /// every record and large binary, and whether every record, index entry and link is what the
  /// commits have left, so that a page of a former state is found as well.
  ///
  /// A store that is open does so by itself, at low priority, where the last time is longer ago
  /// than ``StoreOptions/scrubInterval``. Unlike ``check()`` it compares nothing with one another,
  /// and needs no memory for it.
  ///
  /// Blocks for about a second for some hundred megabytes. Others read and write meanwhile; what
  /// they free is not used again as long as the part of the file is read that it was in. Ends
  /// within a moment where its task is cancelled.
  ///
  /// ```swift
  /// try store.scrub { fraction in print("\(Int(fraction * 100)) %") }
  /// ```
  ///
  /// - Parameter progress: Told what part of the databases has been read, from 0 to 1, on the
  ///   thread of the call.
  /// - Throws: ``ArborError`` `corrupted` with the first damage that it meets, after which the
  ///   store refuses commits; `cancelled`, `closed`, `modelChanged`, `migrationUnderWay`,
  ///   `diskFull`, `inputOutput`.
  public func scrub(_ progress: (@Sendable (Double) -> Void)? = nil) throws(ArborError) {
    try whileOpen(engine.scrub { progress?(Double($0.done) / Double($0.total)) })
  }

  /// When the file was last read as a whole and found without damage, by ``scrub(_:)`` or behind an
  /// open store; nil where it never was. A store that is opened for reading only keeps no time.
  ///
  /// - Throws: ``ArborError`` `closed`, `corrupted`, `modelChanged`, `inputOutput`.
  public func lastScrub() throws(ArborError) -> Date? { try whileOpen(engine.lastScrub()) }

  /// Writes what is found to be damaged behind the store to the program's log.
  func logDamage() {
    // Not weak: each use of the file would count its references the long way from then on. Sound:
    // the file keeps this, and code that tells it of damage holds the file.
    engine.onDamage { [unowned engine] error in
      var metadata: Logger.Metadata = [:]
      if let path = engine.path { metadata["path"] = "\(path)" }
      Self.damageLogger.error("\(ArborError(error, in: engine))", metadata: metadata)
    }
  }

  private static let damageLogger = Logger(label: "ArborData.damage")
}
