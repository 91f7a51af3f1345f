import ArborErrors
import Testing

@Suite struct WorkLimitTests {
  /// Returns the number of units that pass before the work stops, or `most` if it doesn't.
  private func units(_ limit: WorkLimit, upTo most: Int = 100_000) -> Int {
    for count in 0..<most where !limit.admit() { return count }
    return most
  }

  @Test("Work without a limit is not stopped")
  func nothingStopsWhatIsNotLimited() throws {
    let limit = WorkLimit()
    #expect(units(limit) == 100_000)
    #expect(limit.interruption == nil)
    try limit.check()
    try limit.checkNow()
  }

  @Test("A deadline stops the work")
  func aDeadlineStopsTheWork() throws {
    let limit = WorkLimit(until: .now)
    #expect(units(limit) <= 16)
    #expect(limit.interruption == .deadlineExceeded)
    #expect(units(limit) == 0)
    // Work without units is stopped, too.
    #expect(!limit.admit(0))
    #expect(throws: Interruption.deadlineExceeded) { try limit.check(0) }
    #expect(throws: Interruption.deadlineExceeded) { try limit.check() }
    #expect(throws: Interruption.deadlineExceeded) { try limit.checkNow() }
    limit.begin()
    #expect(throws: Interruption.deadlineExceeded) { try limit.checkNow() }
    limit.deadline = nil
    #expect(throws: Interruption.deadlineExceeded) { try limit.checkNow() }
    limit.begin()
    #expect(units(limit, upTo: 100) == 100)
    limit.narrow(WorkAllowance(timeLimit: .zero))
    #expect(throws: Interruption.deadlineExceeded) { try limit.checkNow() }
    // The allowance of a request ends with its operation.
    limit.begin()
    #expect(units(limit, upTo: 100) == 100)
  }

  @Test("The earlier of two deadlines applies")
  func theEarlierDeadlineCounts() {
    let limit = WorkLimit(until: .now)
    limit.narrow(WorkAllowance(timeLimit: .seconds(1000)))
    #expect(throws: Interruption.deadlineExceeded) { try limit.checkNow() }
    let long = WorkLimit(until: .now + .seconds(1000))
    long.narrow(WorkAllowance(timeLimit: .zero))
    #expect(throws: Interruption.deadlineExceeded) { try long.checkNow() }
  }

  @Test("Cancelling the task of the thread stops the work")
  func theTaskOfTheThreadStopsTheWork() async {
    await Task {
      let limit = WorkLimit()
      #expect(units(limit, upTo: 100) == 100)
      withUnsafeCurrentTask { $0?.cancel() }
      #expect(throws: Interruption.cancelled) { try limit.checkNow() }
      limit.begin()
      #expect(units(limit) <= 16)
      #expect(limit.interruption == .cancelled)
    }.value
  }

  @Test("The size of computed values is limited")
  func computedValuesHaveAnEnd() {
    let limit = WorkLimit()
    #expect(limit.hold(16 << 20) && limit.admit())
    limit.release(16 << 20)
    #expect(limit.hold(16 << 20) && limit.hold(0))
    #expect(!limit.hold(1) && !limit.admit())
    #expect(limit.interruption == .valueTooLarge(16 << 20))
    limit.begin()
    #expect(limit.hold(1))
    limit.begin()
    limit.narrow(WorkAllowance(valueSize: 100))
    #expect(limit.hold(100) && !limit.hold(1))
    #expect(limit.interruption == .valueTooLarge(100))
    limit.begin()
    limit.narrow(WorkAllowance(valueSize: 64 << 20))
    #expect(limit.hold(64 << 20))
  }

  @Test("The number of elements is limited")
  func elementsAreABudget() {
    let limit = WorkLimit()
    limit.narrow(WorkAllowance(elements: 100))
    limit.narrow(WorkAllowance(elements: 200))
    #expect(limit.admitElements(60) && limit.admitElements(40) && limit.admit(1))
    #expect(!limit.admitElements(1) && !limit.admitElements(0) && !limit.admit())
    #expect(limit.interruption == .elementsExceeded(100))
    limit.begin()
    #expect(limit.admitElements(1000))
  }

  @Test("Work has a budget")
  func workIsABudget() {
    let limit = WorkLimit()
    #expect(!limit.chargesWork && limit.charge(1 << 40))
    limit.begin()
    limit.narrow(WorkAllowance(work: 100))
    limit.narrow(WorkAllowance(work: 200))
    #expect(limit.chargesWork)
    #expect(limit.charge(60) && limit.charge(40) && limit.charge(0) && limit.admit(1))
    #expect(limit.chargedWork == 100)
    #expect(!limit.charge(1) && !limit.charge(0) && !limit.admit())
    #expect(limit.interruption == .workExceeded(100))
    limit.begin()
    #expect(!limit.chargesWork && limit.charge(1000))
    // Charging checks the clock, even if nothing else does.
    limit.narrow(WorkAllowance(timeLimit: .zero, work: 1 << 40))
    let charged = (0..<10_000).firstIndex { _ in !limit.charge(1000) }
    #expect(charged.map { $0 < 1000 } ?? false)
    #expect(limit.interruption == .deadlineExceeded)
  }

  /// If units take long, the limit is checked after fewer of them.
  @Test("Slow work is checked more often")
  func slowWorkIsLookedAtMoreOften() {
    let limit = WorkLimit()
    #expect(units(limit) == 100_000)
    #expect(limit.batchSize == 1024)
    let clock = ContinuousClock()
    for _ in 0..<20_000 where limit.batchSize > 8 {
      let end = clock.now + .microseconds(300)
      while clock.now < end {}
      _ = limit.admit()
    }
    #expect(limit.batchSize <= 8)
  }

  @Test("Allowances are combined to the narrower ones")
  func allowancesAreNarrowedByEachOther() {
    let unlimited = WorkAllowance()
    let one = WorkAllowance(timeLimit: .seconds(1), elements: 5)
    let other = WorkAllowance(timeLimit: .seconds(2), elements: 4)
    #expect(unlimited.isUnlimited && !one.isUnlimited)
    #expect(unlimited.narrowed(by: one) == one && one.narrowed(by: unlimited) == one)
    #expect(one.narrowed(by: other) == WorkAllowance(timeLimit: .seconds(1), elements: 4))
    #expect(WorkAllowance(valueSize: 16 << 20).isUnlimited)
    #expect(!WorkAllowance(valueSize: 1).isUnlimited && !WorkAllowance(work: 1).isUnlimited)
    #expect(WorkAllowance(work: 3).narrowed(by: WorkAllowance(work: 2)) == WorkAllowance(work: 2))
    #expect(unlimited.narrowed(by: WorkAllowance(work: 2)) == WorkAllowance(work: 2))
  }

  @Test("Interruptions are converted to errors with a code and a message")
  func callersAreToldWhatToDo() {
    let cancelled = ArborError(Interruption.cancelled)
    #expect(cancelled.code == .cancelled && cancelled.underlying is CancellationError)
    #expect(cancelled.message == "The task was cancelled before the operation finished.")
    let late = ArborError(Interruption.deadlineExceeded)
    #expect(late.code == .deadlineExceeded)
    #expect(
      late.message
        == "The operation exceeded its deadline. Request less data, or extend the deadline.")
    let costly = ArborError(Interruption.workExceeded(7))
    #expect(costly.code == .limitExceeded)
    #expect(
      costly.message
        == "The predicate needs more work than its limit of 7 units. Simplify it, or raise "
        + "maximumWork in its limits.")
    let large = ArborError(Interruption.elementsExceeded(7))
    #expect(large.code == .limitExceeded)
    #expect(
      large.message
        == "The predicate evaluates more collection elements than its limit of 7. Simplify it, or "
        + "raise maximumElements in its limits.")
  }
}
