import Testing

@testable import ArborPostgres

@Suite struct DeadlineTests {
  @Test("Deadlines are converted to milliseconds and limited")
  func roundsUp() {
    #expect((59_000...60_000).contains(Deadline(.seconds(60)).milliseconds))
    #expect(Deadline(.zero).milliseconds == 0)
    #expect(Deadline(.zero).isOver)
    #expect(Deadline(.seconds(-1)).left == .zero)
    #expect(Deadline(.seconds(60)).atMost(.zero).isOver)
    #expect(!Deadline(.seconds(60)).atMost(.seconds(90)).isOver)
  }
}
