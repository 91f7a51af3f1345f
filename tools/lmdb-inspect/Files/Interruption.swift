import Foundation
import LMDB

/// What remains of a verb that makes a file when somebody ends it.
enum Interruption {
  private static let handled = [SIGINT, SIGTERM, SIGHUP]
  /// Where the handler of signals writes; -1 while nobody listens.
  ///
  /// `nonisolated(unsafe)`: set before handlers are installed only.
  nonisolated(unsafe) private static var signals: Int32 = -1

  /// Runs `work`. A signal that ends the process meanwhile removes the files first that are not
  /// complete yet.
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
      signal(Int32(number), SIG_DFL)
      kill(getpid(), Int32(number))
    }
    for number in handled {
      // Sound: a handler may write to a descriptor, and does nothing else.
      let former = signal(number) { number in
        var byte = UInt8(truncatingIfNeeded: number)
        let before = errno
        _ = write(Interruption.signals, &byte, 1)
        errno = before
      }
      // What the caller has told to be ignored, as nohup does, stays so. Function pointers have no
      // equality in Swift. Sound: both are as large as an Int, and only their bits are compared.
      if unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
        signal(number, SIG_IGN)
      }
    }
    defer { for number in handled { signal(number, SIG_DFL) } }
    return try work()
  }
}
