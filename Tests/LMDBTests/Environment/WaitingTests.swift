import Foundation
import Synchronization
import Testing

@testable import LMDB

@Suite("Waiting for changes and notifications") struct WaitingTests {
  @Test("A notification wakes all waiters")
  func wakesAllWaiters() {
    let event = EventCount()
    let token = event.token
    let awake = Atomic(0)
    let group = DispatchGroup()
    for _ in 0..<4 {
      group.enter()
      Thread {
        if event.wait(past: token, until: nil) { awake.add(1, ordering: .relaxed) }
        group.leave()
      }.start()
    }
    event.notify()
    group.wait()
    #expect(awake.load(ordering: .relaxed) == 4)
  }

  @Test("A notification between taking the token and waiting isn't missed")
  func doesNotSleepThroughAnEarlierChange() {
    let event = EventCount()
    let token = event.token
    event.notify()
    #expect(event.wait(past: token, until: nil))
  }

  @Test("Waiting ends at the deadline")
  func sleepsNoLongerThanTheDeadline() {
    let event = EventCount()
    #expect(!event.wait(past: event.token, until: EventCount.deadline(in: 0.01)))
    #expect(!event.wait(past: event.token, until: EventCount.deadline(in: -1)))
  }

  @Test("Threads have different IDs")
  func tellsThreadsApart() {
    let me = ThreadID.current
    #expect(me == ThreadID.current)
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var other: ThreadID?
    Thread {
      other = ThreadID.current
      done.signal()
    }.start()
    done.wait()
    #expect(other != nil && other != me)
  }

  @Test("A forked child can't use an inherited environment, and the parent is unaffected")
  func stopsAForkedChild() async throws {
    await #expect(processExitsWith: .exitCode(9)) {
      let folder = try TemporaryFolder()
      let environment = try folder.environment()
      let database = try #require(try environment.openDatabase("it", [], create: true))
      try environment.write { try $0.put(database, [1], [1]) }
      var held: ReadTransaction? = try environment.beginRead()
      // Swift marks `fork` as unavailable, because little of a process survives it.
      let symbol = try #require(dlsym(nil, "fork"))
      let fork = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
      let child = fork()
      if child == 0 {
        held = nil
        var errors: [LMDBError] = []
        do throws(LMDBError) { _ = try environment.beginRead() } catch { errors.append(error) }
        do throws(LMDBError) { try environment.runWrite { _ in true } } catch {
          errors.append(error)
        }
        do throws(LMDBError) { try environment.close() } catch { errors.append(error) }
        do throws(LMDBError) { _ = try environment.info() } catch { errors.append(error) }
        _exit(errors == Array(repeating: .forkedProcess, count: 4) ? 5 : 6)
      }
      var status: Int32 = 0
      waitpid(child, &status, 0)
      guard (status >> 8) & 0xFF == 5 else { exit(2) }
      // The exit of the child must not have freed the slot of this process.
      let readers = try environment.readers().filter { $0.transactionID != nil }
      guard readers.count == 1, held != nil else { exit(3) }
      held = nil
      try environment.write { try $0.put(database, [1], [2]) }
      guard try environment.value(database, [1]) == [2] else { exit(4) }
      exit(9)
    }
  }
}
