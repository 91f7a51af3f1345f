import ArborLocks
import Foundation
import TestSupport

@testable import ArborPostgres

/// A server and two standbys, of which one has to have what is committed; and who decides which one
/// is written to. It does what whoever runs such servers has to do: the one that was written to is
/// ended before another one is promoted, and never one that has less than the other.
///
/// Ending a server ends its processes. What they had written stays with the system, so nothing
/// waits for the medium.
final class PostgresCluster: Sendable {
  let servers: [PostgresServer]
  private let state = Lock(0)

  /// The server that is written to.
  var primary: PostgresServer { servers[state.withLock { $0 }] }
  var standbys: [PostgresServer] {
    let index = state.withLock { $0 }
    return servers.enumerated().filter { $0.offset != index }.map(\.element)
  }

  /// What a log connects with: all of them.
  var connection: String {
    "host=" + servers.map(\.folder.path).joined(separator: ",") + " dbname=postgres user=postgres"
  }

  init() throws {
    let run = UUID().uuidString.prefix(4).lowercased()
    let names = ["a", "b", "c"].map { "\($0)_\(run)" }
    let settings = [
      "synchronous_standby_names": "ANY 1 (\(names.joined(separator: ", ")))",
      "wal_keep_size": "256MB", "wal_receiver_timeout": "5s", "wal_sender_timeout": "5s",
      "wal_retrieve_retry_interval": "100ms",
    ]
    let first = try PostgresServer(names[0], settings: settings)
    servers =
      try [first]
      + names.dropFirst().map { try PostgresServer($0, settings: settings, standbyOf: first) }
  }

  /// Waits until both standbys take part.
  ///
  /// - Parameter hasAll: Also until both have everything that was committed before.
  func waitForStandbys(haveAll hasAll: Bool = false) throws {
    let end = hasAll ? "pg_current_wal_flush_lsn()" : "'0/0'"
    let count = """
      SELECT count(*)::text FROM pg_stat_replication
      WHERE state = 'streaming' AND flush_lsn >= \(end)
      """
    let deadline = Deadline(.seconds(60))
    while try primary.sql(count) != [["2"]] {
      guard !deadline.isOver else {
        throw PostgresServer.Problem(description: "the standbys do not follow")
      }
      usleep(20_000)
    }
  }

  /// Ends the primary, promotes the standby that has more, and makes the other two follow it.
  func failOver() throws {
    let old = primary
    old.kill()
    let found = try standbys.map { try ($0, position(of: $0)) }
    let (next, other) =
      !found[0].1.lexicographicallyPrecedes(found[1].1)
      ? (found[0].0, found[1].0) : (found[1].0, found[0].0)
    try promote(next)
    try other.follow(next)
    try old.copy(next)
    try old.start()
  }

  /// Makes a standby the one that is written to.
  func promote(_ standby: PostgresServer) throws {
    try standby.promote()
    state.withLock { index in index = servers.firstIndex { $0 === standby } ?? index }
  }

  /// How far a standby has what its primary wrote, once it has applied all that it got. It may have
  /// got half of a last record, which it never applies.
  private func position(of standby: PostgresServer) throws -> [Int] {
    let positions = """
      SELECT (coalesce(pg_last_wal_replay_lsn(), '0/0') - '0/0')::bigint::text,
        (coalesce(pg_last_wal_receive_lsn(), '0/0') - '0/0')::bigint::text
      """
    var (last, repeats) = ([Int](), 0)
    while true {
      let numbers = try standby.sql(positions)[0].map { Int($0 ?? "") ?? 0 }
      repeats = numbers == last ? repeats + 1 : 0
      last = numbers
      if repeats > 0, numbers[0] >= numbers[1] || repeats > 5 { return last }
      usleep(200_000)
    }
  }
}
