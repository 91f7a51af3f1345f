import ArborModel
import Foundation
import TestSupport
import Testing

@testable import ArborStore

@Suite(.timeLimit(.minutes(40))) struct CommitTicketTests {
  @Test func aWaitEndsWithTheWakingOrItsTime() {
    let ticket = CommitTicket(ChangeSet())
    ticket.prepareToWait()
    // Nobody wakes it.
    ticket.wait(atMost: 1_000_000)
    ticket.wake()
    // Woken before, it does not wait.
    ticket.wait()
    // Only this once.
    ticket.wait(atMost: 1)
    Thread { ticket.wake() }.start()
    ticket.wait()
    #expect(ticket.result == nil)
  }
}
