import ArborLocks
import Foundation
import TestSupport

@testable import ArborPostgres

/// A primary server and two standbys, one of which must confirm each commit.
///
/// The cluster follows the rules for operating such servers: the old primary is killed before a
/// standby is promoted, and the promoted standby is never the one that lags behind.
///
/// Killing a server ends its processes. The operating system keeps what they have written, so no
/// server waits for the disk.
final class PostgresCluster: Sendable {
  let servers: [PostgresServer]
  private let state = Lock(0)

  /// The server that accepts writes.
  var primary: PostgresServer { servers[state.withLock { $0 }] }
  var standbys: [PostgresServer] {
    let index = state.withLock { $0 }
    return servers.enumerated().filter { $0.offset != index }.map(\.element)
  }

  /// The connection string of a log, which contains all servers.
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

  /// Waits until both standbys are streaming.
  ///
  /// - Parameter hasAll: Whether to wait until both have everything that has been committed.
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

  /// Kills the primary, promotes the more advanced standby, and makes the other two follow it.
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

  /// Promotes a standby to primary.
  func promote(_ standby: PostgresServer) throws {
    try standby.promote()
    state.withLock { index in index = servers.firstIndex { $0 === standby } ?? index }
  }

  /// Returns the position of a standby after it has applied everything it received. It may have
  /// received a part of a last record, which it never applies.
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
