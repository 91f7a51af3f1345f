internal import ArborLocks
internal import CArborBits

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The turn: an advisory lock among all threads and processes that have the file open, which lasts
/// for a limited time.
///
/// Work that repeatedly loses against the commits of others takes the turn, and others let it pass.
/// The turn excludes nothing. Time is divided into periods, each with a byte beyond the end of the
/// file. The turn is an *open file description lock* on the bytes of the current period and the one
/// before:
///
/// ```
/// period        1     2     3     4     5
/// taken in 2    ▓▓▓▓▓▓▓▓▓▓▓▓
/// asked for in 3      ░░░░░░░░░░░░            refused
/// asked for in 4            ░░░░░░░░░░░░      granted, even if the first one has not ended
/// ```
///
/// Therefore a turn lasts for at most two periods, even if its holder is stopped, and ends when its
/// holder dies. It needs no file and no descriptor of its own.
extension Environment {
  /// The length of a period in seconds.
  private static var periodLength: Double { 0.1 }

  /// The position of the byte of period 0: after those of ``OpeningLock`` and ``ScrubClaim``.
  private static var firstByte: Int { OpeningLock.length + 1 }

  private static var period: Int { Int(uptime / periodLength) }

  /// Takes the turn. Returns `nil` if another thread or process has it, otherwise a value to pass to
  /// ``endTurn(_:)``. If the file system doesn't support such locks, other processes are ignored.
  package func takeTurn() -> Int? {
    let period = Self.period
    let isFree = turn.withLock { turn in
      if let turn, period - turn < 2 { return false }
      turn = period
      return true
    }
    guard isFree else { return nil }
    let kind = OpeningLock.Kind.exclusive.rawValue
    let code = arbor_lock_range(file.descriptor, kind, Self.firstByte + period - 1, 2, 0)
    guard code != 0, errno == EAGAIN || errno == EACCES else { return period }
    turn.withLock { if $0 == period { $0 = nil } }
    return nil
  }

  /// Ends a turn, which may have expired.
  package func endTurn(_ period: Int) {
    let kind = OpeningLock.Kind.none.rawValue
    _ = arbor_lock_range(file.descriptor, kind, Self.firstByte + period - 1, 2, 0)
    turn.withLock { if $0 == period { $0 = nil } }
  }

  /// Whether another thread or process has the turn.
  package var isTurnTaken: Bool {
    let period = Self.period
    if let turn = turn.withLock(\.self), period - turn < 2 { return true }
    return arbor_is_locked(file.descriptor, Self.firstByte + period - 1, 2) != 0
  }
}
