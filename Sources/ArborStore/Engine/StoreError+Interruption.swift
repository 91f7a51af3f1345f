package import ArborModel
internal import LMDB

extension WorkLimit {
  /// Counts units of work.
  ///
  /// - Throws: `interrupted` if the work has to stop.
  @inline(__always)
  package func checkStore(_ units: Int = 1) throws(StoreError) {
    do throws(Interruption) { try check(units) } catch { throw .interrupted(error) }
  }

  /// Checks the task and the clock immediately.
  ///
  /// - Throws: `interrupted` if the work has to stop.
  package func checkStoreNow() throws(StoreError) {
    do throws(Interruption) { try checkNow() } catch { throw .interrupted(error) }
  }

  /// Counts units of work within calls of LMDB, which must be wrapped in ``storing(_:_:)``.
  ///
  /// - Throws: `closed` if the work has to stop.
  @inline(__always)
  func checkLMDB(_ units: Int = 1) throws(LMDBError) {
    if !admit(units) { throw .closed }
  }
}

/// Returns the result of one call of LMDB that a limit may end.
@inline(__always)
func storing<R: ~Copyable>(
  _ limit: WorkLimit, _ call: @autoclosure () throws(LMDBError) -> R
) throws(StoreError) -> R {
  try storing(limit) { () throws(LMDBError) in try call() }
}

/// Runs calls of LMDB that a limit may end, and converts their errors to errors of the store, with
/// `path` if given.
@inline(__always)
func storing<R: ~Copyable>(
  _ limit: WorkLimit, path: String? = nil, _ body: () throws(LMDBError) -> R
) throws(StoreError) -> R {
  do throws(LMDBError) {
    return try body()
  } catch {
    if let interruption = limit.interruption { throw .interrupted(interruption) }
    throw StoreError(error, path: path)
  }
}
