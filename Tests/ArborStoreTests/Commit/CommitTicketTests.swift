import ArborLocks
import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborStore

@Suite(.timeLimit(.minutes(40))) struct CommitTicketTests {
  @Test("Waiting for a commit ticket ends when it is woken or times out")
  func aWaitEndsWithTheWakingOrItsTime() {
    let ticket = CommitTicket(ChangeSet())
    ticket.prepareToWait()
    // Times out, because no thread wakes the ticket.
    #expect(!ticket.wait(atMost: 1_000_000))
    ticket.wake()
    // A ticket that was woken before doesn't wait.
    #expect(ticket.wait(atMost: 60_000_000_000))
    // The wake-up was consumed, so this wait times out.
    #expect(!ticket.wait(atMost: 1))
    let isWoken = Lock(false)
    Thread {
      isWoken.withLock { $0 = true }
      ticket.wake()
    }.start()
    #expect(ticket.wait(atMost: 60_000_000_000))
    #expect(isWoken.withLock { $0 })
  }
}
