import Foundation
import Synchronization

/// Requests over several connections, each of which sends the next request after a response.
struct Load {
  let port: Int
  let connections: Int
  let requests: Int
  let count: Int64
  let seed: UInt64

  /// The seconds that each request took, in ascending order.
  func run() throws -> [Double] {
    let results = Mutex<(times: [Double], failure: (any Error)?)>(([], nil))
    let group = DispatchGroup()
    for index in 0..<connections {
      group.enter()
      let thread = Thread {
        defer { group.leave() }
        do {
          let times = try one(index)
          results.withLock { $0.times += times }
        } catch {
          results.withLock { $0.failure = error }
        }
      }
      thread.start()
    }
    group.wait()
    return try results.withLock { results in
      if let failure = results.failure { throw failure }
      return results.times.sorted()
    }
  }

  private func one(_ index: Int) throws -> [Double] {
    let connection = try Connection(port: port)
    var state = seed &* 1000 &+ UInt64(index) &+ 1
    var times: [Double] = []
    for _ in 0..<(requests / connections) {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let start = Int64(state >> 33) % max(1, count - 20)
      let began = Self.now
      let body = try connection.get("/cities/\(start)")
      times.append(Self.now - began)
      guard body.count > 1000 else { throw Failure("The response has only \(body.count) bytes.") }
    }
    return times
  }

  private static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}
