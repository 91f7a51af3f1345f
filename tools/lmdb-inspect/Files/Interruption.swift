import Foundation
import LMDB

/// Cleans up after a verb that creates a file and is terminated.
enum Interruption {
  private static let handled = [SIGINT, SIGTERM, SIGHUP]
  /// The descriptor that the signal handler writes to, or -1 if there is none.
  ///
  /// `nonisolated(unsafe)`: changed only before handlers are installed.
  nonisolated(unsafe) private static var signals: Int32 = -1

  /// Runs `work`. If a signal terminates the process, unfinished files are removed first.
  static func removingUnfinishedFiles<R>(_ work: () throws -> R) rethrows -> R {
    var ends: [Int32] = [-1, -1]
    guard signals < 0, pipe(&ends) == 0 else { return try work() }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    signals = ends[1]
    let reader = ends[0]
    Thread.detachNewThread {
      var number: UInt8 = 0
      while read(reader, &number, 1) != 1 {}
      UnfinishedFile.removeAllOfThisProcess()
      // Again, because the engine may just have created a lock file.
      UnfinishedFile.removeAllOfThisProcess()
      signal(Int32(number), SIG_DFL)
      kill(getpid(), Int32(number))
    }
    for number in handled {
      // Sound: handlers may write to a descriptor, and this one does nothing else.
      let former = signal(number) { number in
        var byte = UInt8(truncatingIfNeeded: number)
        let before = errno
        _ = write(Interruption.signals, &byte, 1)
        errno = before
      }
      // Signals that the caller has ignored, as nohup does, remain ignored. Swift cannot compare
      // function pointers. Sound: both have the size of an Int, and only their bits are compared.
      if unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
        signal(number, SIG_IGN)
      }
    }
    defer { for number in handled { signal(number, SIG_DFL) } }
    return try work()
  }
}
