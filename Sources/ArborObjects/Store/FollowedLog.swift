internal import ArborLocks
internal import ArborLog
internal import ArborModel
internal import ArborStore
internal import Dispatch

/// A log that a store looks at again and again.
final class FollowedLog: Sendable {
  private let log: FolderLog
  private let follower: LogFollower
  private let file: StoreFile
  private let nanoseconds: Int
  private let queue = DispatchQueue(label: "ArborData.follower", qos: .utility)
  private let progress = Lock(Progress())

  private struct Progress {
    var newest: UInt64 = 0
    var problem: ArborError?
    var hasEnded = false
  }

  init(_ log: FolderLog, _ follower: LogFollower, _ file: StoreFile, every interval: Duration) {
    self.log = log
    self.follower = follower
    self.file = file
    let (seconds, attoseconds) = interval.components
    let (whole, overflows) = Int(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
    nanoseconds = max(overflows ? .max : whole + Int(attoseconds / 1_000_000_000), 1_000_000)
    lookLater()
  }

  /// Looks no more.
  func end() { progress.withLock { $0.hasEnded = true } }

  var state: Following {
    let progress = progress.withLock { $0 }
    return Following(
      log: log, newest: progress.newest, sequence: file.lastSequence, problem: progress.problem)
  }

  @discardableResult
  func catchUp() throws(ArborError) -> UInt64 {
    do throws(ArborError) {
      let newest = try PersistentStore.logging(file) { try follower.catchUp() }
      progress.withLock { ($0.newest, $0.problem) = (newest, nil) }
      return newest
    } catch {
      progress.withLock { $0.problem = error }
      throw error
    }
  }

  private func lookLater() {
    queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { [weak self] in
      guard let self, !self.progress.withLock(\.hasEnded) else { return }
      // What went wrong is told by the state.
      _ = try? self.catchUp()
      self.lookLater()
    }
  }
}
