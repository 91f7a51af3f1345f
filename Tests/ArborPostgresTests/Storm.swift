import Foundation
import TestSupport
import ArborPostgres

/// Causes failures of the servers of a cluster, one after the other, and repairs them.
struct Storm {
  let cluster: PostgresCluster
  var random: SeededRandom
  /// The failures so far.
  var events: [String] = []

  init(_ cluster: PostgresCluster, seed: UInt64) {
    self.cluster = cluster
    random = SeededRandom(seed: seed)
  }

  /// The number of failures of each kind.
  var summary: String {
    let counts = Dictionary(events.map { ($0, 1) }, uniquingKeysWith: +)
    return counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
      .joined(separator: ", ")
  }

  /// Causes the next failure.
  mutating func next() throws {
    events.append(try happen())
    // Sometimes, the next failure occurs before the cluster has recovered from the last one.
    if Bool.random(using: &random) { try cluster.waitForStandbys() }
    usleep(.random(in: 100_000...800_000, using: &random))
  }

  private mutating func happen() throws -> String {
    let time = useconds_t.random(in: 50_000...1_500_000, using: &random)
    let standby = cluster.standbys[Int.random(in: 0...1, using: &random)]
    switch Int.random(in: 0..<7, using: &random) {
    case 0:
      standby.kill()
      usleep(time)
      try standby.start()
      return "standby killed"
    case 1:
      standby.stop()
      usleep(time)
      standby.resume()
      return "standby stopped"
    case 2:
      for standby in cluster.standbys { standby.stop() }
      usleep(time)
      for standby in cluster.standbys { standby.resume() }
      return "both standbys stopped"
    case 3:
      cluster.primary.stop()
      usleep(time)
      cluster.primary.resume()
      return "primary stopped"
    case 4:
      cluster.primary.kill()
      usleep(time)
      try cluster.primary.start()
      return "primary killed"
    case 5:
      // Commits made in the meantime are only on one standby.
      standby.stop()
      usleep(time / 4)
      cluster.primary.stop()
      standby.resume()
      try cluster.failOver()
      return "failed over with a standby behind"
    default:
      try cluster.failOver()
      return "failed over"
    }
  }
}
