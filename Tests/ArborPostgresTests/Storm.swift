import Foundation
import TestSupport
import ArborPostgres

/// Lets things go wrong with the servers of a cluster, one after the other, and repairs them.
struct Storm {
  let cluster: PostgresCluster
  var random: SeededRandom
  /// What went wrong so far.
  var events: [String] = []

  init(_ cluster: PostgresCluster, seed: UInt64) {
    self.cluster = cluster
    random = SeededRandom(seed: seed)
  }

  /// How often each thing went wrong.
  var summary: String {
    let counts = Dictionary(events.map { ($0, 1) }, uniquingKeysWith: +)
    return counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
      .joined(separator: ", ")
  }

  /// The next thing.
  mutating func next() throws {
    events.append(try happen())
    // Now and then the next one comes while the last one is still being got over.
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
      // What is committed meanwhile is on one standby alone.
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
