internal import ArborModel
internal import LMDB

/// A part of a salvage that gathers what it reads and writes it in batches.
protocol SalvageCopying: AnyObject {
  var source: SalvageSource { get }
  /// What ended the writing, while the engine's error ends the reading around it.
  var failure: StoreError? { get set }

  /// Writes what was gathered.
  func writePending() throws(StoreError)
}

extension SalvageCopying {
  /// Runs reading that writes, and writes the rest; errors of the writing come out as they were.
  func run(_ body: () throws(LMDBError) -> Void) throws(StoreError) {
    do throws(LMDBError) {
      try body()
      try flush()
    } catch {
      if let interruption = source.limit.interruption { throw .interrupted(interruption) }
      throw failure ?? StoreError(error)
    }
  }

  /// Writes what was gathered in the midst of reading.
  func flush() throws(LMDBError) {
    do throws(StoreError) { try writePending() } catch {
      failure = error
      throw .closed
    }
  }
}
