internal import ArborLocks

/// Limits that stop an operation early: task cancellation, a deadline, and budgets for collection
/// elements, for the size of computed values, and for the work of computing them.
///
/// Every loop over rows, entries, pages or items counts its iterations here, and stops when the
/// limit is exceeded:
///
/// ```swift
/// for item in items {
///   try limit.check()
///   write(item)
/// }
/// ```
///
/// Counting costs one subtraction; the task and the clock are checked only at intervals. The number
/// of units between two checks adapts to how long the previous ones took, so that a check occurs
/// about once per millisecond or more often. Once exceeded, a limit stays exceeded until
/// ``begin()``.
///
/// A limit belongs to the thread that runs the operation, and checks the task that is current on
/// that thread. Work that moves to another thread must be notified of cancellation by other means.
@usableFromInline
package final class WorkLimit {
  /// The number of units before the first check.
  private static let firstStride = 16
  /// The maximum number of units between two checks. Limits the delay if the next units take longer
  /// than the previous ones.
  private static let maximumStride = 1024
  /// The value of ``room`` after an interruption. Negative, so that even zero units are rejected.
  private static let none = -1
  private static let soon = Duration.microseconds(250)
  private static let late = Duration.milliseconds(2)
  /// The charged work between two checks, which takes about half a millisecond.
  private static let workPerLook = 1 << 19

  /// A flag that stops the work, in addition to the cancellation of its task. Stays set across
  /// operations.
  package var revocation: Revocation?
  /// Whether the work continues even if its task is cancelled.
  package var ignoresCancellation = false
  /// The reason the work must stop, or `nil` while it may continue.
  package private(set) var interruption: Interruption?
  /// The number of units left before the next check.
  @usableFromInline var room = firstStride
  private var stride = firstStride
  private var lastLook: ContinuousClock.Instant?
  /// The deadline of the current operation.
  private var end: ContinuousClock.Instant?
  /// Whether `lastLook`, `end` or the budget of work differs from the initial value that it has in
  /// operations without a deadline.
  private var hasTimes: Bool
  private var elementsLeft = Int.max
  private var maximumElements = Int.max
  private var workLeft = Int.max
  private var maximumWork = Int.max
  /// The charged work since the task and the clock were last checked.
  private var workSinceLook = 0
  /// The remaining budget for computed values, in bytes and elements.
  package private(set) var valueRoom = WorkAllowance.standardValueSize
  private var largestValue = WorkAllowance.standardValueSize

  /// The deadline of subsequent operations, or `nil` for no deadline.
  package var deadline: ContinuousClock.Instant? { didSet { hasTimes = true } }

  package init(until deadline: ContinuousClock.Instant? = nil) {
    self.deadline = deadline
    end = deadline
    hasTimes = deadline != nil
  }

  /// Begins another operation: clears the interruption and restores the default budgets.
  @inline(__always)
  package func begin() {
    interruption = nil
    room = Self.firstStride
    stride = Self.firstStride
    elementsLeft = .max
    valueRoom = WorkAllowance.standardValueSize
    largestValue = WorkAllowance.standardValueSize
    // Out of line, because copying instants requires function calls.
    if hasTimes { beginTimes() }
  }

  @inline(never)
  private func beginTimes() {
    lastLook = nil
    end = deadline
    hasTimes = deadline != nil
    (workLeft, maximumWork, workSinceLook) = (.max, .max, 0)
  }

  /// Applies additional limits to the operation that has just begun.
  package func narrow(_ allowance: WorkAllowance) {
    if let timeLimit = allowance.timeLimit {
      let latest = ContinuousClock.now.advanced(by: timeLimit)
      end = end.map { min($0, latest) } ?? latest
      hasTimes = true
    }
    if let elements = allowance.elements, elements < elementsLeft {
      elementsLeft = max(0, elements)
      maximumElements = elementsLeft
    }
    if let work = allowance.work, work < workLeft {
      workLeft = max(0, work)
      maximumWork = workLeft
      hasTimes = true
    }
    if let size = allowance.valueSize {
      largestValue = max(0, size)
      valueRoom = largestValue
    }
  }

  // MARK: Counting

  /// Counts units of work. Returns `false` if the work must stop.
  @inlinable
  package func admit(_ units: Int = 1) -> Bool {
    room -= units
    return room >= 0 || look()
  }

  /// Counts units of work.
  ///
  /// - Throws: The reason the work must stop.
  @inlinable
  package func check(_ units: Int = 1) throws(Interruption) {
    if !admit(units) { try stop() }
  }

  /// Counts collection elements against the budget and as units of work. Returns `false` if the
  /// work must stop.
  package func admitElements(_ count: Int) -> Bool {
    elementsLeft -= count
    if elementsLeft < 0 {
      elementsLeft = 0
      if interruption == nil { interruption = .elementsExceeded(maximumElements) }
      room = Self.none
      return false
    }
    return admit()
  }

  /// Whether the operation has a budget of work, so that its work has to be charged.
  package var chargesWork: Bool { maximumWork < .max }

  /// The work charged so far in an operation that has a budget.
  package var chargedWork: Int { maximumWork - workLeft }

  /// Charges work for computing values to the budget, before it is done. Returns `false` if the work
  /// must stop.
  ///
  /// - Parameter units: The work, in units of roughly a nanosecond.
  package func charge(_ units: Int) -> Bool {
    workLeft -= units
    if workLeft < 0 {
      workLeft = 0
      interrupt(.workExceeded(maximumWork))
      return false
    }
    workSinceLook += units
    if workSinceLook < Self.workPerLook { return interruption == nil }
    workSinceLook = 0
    return look()
  }

  /// Counts the size of a computed value against the budget until it is released. Returns `false`
  /// if too much memory would be held, or if the work must stop for another reason.
  ///
  /// - Parameter size: The number of the value's bytes and elements.
  package func hold(_ size: Int) -> Bool {
    valueRoom = valueRoom.subtractingReportingOverflow(size).partialValue
    if valueRoom < 0 {
      if interruption == nil { interruption = .valueTooLarge(largestValue) }
      room = Self.none
    }
    return interruption == nil
  }

  /// Releases the size counted by ``hold(_:)``.
  package func release(_ size: Int) { valueRoom &+= size }

  /// Interrupts the operation, unless it is already interrupted.
  package func interrupt(_ interruption: Interruption) {
    if self.interruption == nil { self.interruption = interruption }
    room = Self.none
  }

  /// Checks the task and the clock immediately. Used at the start of an operation and around long
  /// steps.
  ///
  /// - Throws: The reason the work must stop.
  package func checkNow() throws(Interruption) {
    interruption = reasonToStop
    if interruption != nil { try stop() }
  }

  /// The reason the work must stop now, or `nil` if it may continue. The work isn't interrupted.
  package var reasonToStop: Interruption? {
    if let interruption { return interruption }
    if isCancelled { return .cancelled }
    if let end, ContinuousClock.now >= end { return .deadlineExceeded }
    return nil
  }

  @usableFromInline
  func stop() throws(Interruption) {
    room = Self.none
    if let interruption { throw interruption }
  }

  private var isCancelled: Bool {
    !ignoresCancellation && Task<Never, Never>.isCancelled || revocation?.isRevoked ?? false
  }

  /// The recommended maximum size of a batch.
  package var batchSize: Int { stride }

  @usableFromInline
  func look() -> Bool {
    defer { room = interruption == nil ? stride : Self.none }
    guard interruption == nil else { return false }
    if isCancelled {
      interruption = .cancelled
      return false
    }
    let now = ContinuousClock.now
    if let end, now >= end {
      interruption = .deadlineExceeded
      return false
    }
    if let lastLook {
      let elapsed = lastLook.duration(to: now)
      if elapsed < Self.soon {
        stride = min(stride * 2, Self.maximumStride)
      } else if elapsed > Self.late {
        stride = max(stride / 8, 1)
      }
    }
    lastLook = now
    hasTimes = true
    return true
  }
}

/// The combined limits of one operation, from its request and its predicates.
package struct WorkAllowance: Sendable, Hashable {
  /// The maximum duration, or `nil` for no limit.
  package var timeLimit: Duration?
  /// The maximum number of collection elements to evaluate, or `nil` for no limit.
  package var elements: Int?
  /// The maximum number of bytes and elements of computed values, or `nil` for
  /// ``standardValueSize``.
  package var valueSize: Int?
  /// The maximum work of computing values, or `nil` for no limit. See ``WorkLimit/charge(_:)``.
  package var work: Int?

  /// The default maximum size of the values that an operation holds while computing: the bytes of
  /// strings and data, plus one per collection element.
  package static let standardValueSize = 16 << 20

  package init(
    timeLimit: Duration? = nil, elements: Int? = nil, valueSize: Int? = nil, work: Int? = nil
  ) {
    self.timeLimit = timeLimit
    self.elements = elements
    self.work = work
    self.valueSize = valueSize == Self.standardValueSize ? nil : valueSize
  }

  package var isUnlimited: Bool {
    timeLimit == nil && elements == nil && valueSize == nil && work == nil
  }

  /// Returns an allowance with the stricter value of each limit. If only one of the two specifies a
  /// limit, its value is used.
  package func narrowed(by other: WorkAllowance) -> WorkAllowance {
    WorkAllowance(
      timeLimit: Self.lesser(timeLimit, other.timeLimit),
      elements: Self.lesser(elements, other.elements),
      valueSize: Self.lesser(valueSize, other.valueSize),
      work: Self.lesser(work, other.work))
  }

  private static func lesser<Limit: Comparable>(_ left: Limit?, _ right: Limit?) -> Limit? {
    guard let left, let right else { return left ?? right }
    return min(left, right)
  }
}

/// A flag that stops the operations of several contexts from another thread. See
/// ``WorkLimit/revocation``.
package final class Revocation: Sendable {
  private let state = Atomic(false)

  package init() {}

  package var isRevoked: Bool { state.load(ordering: .relaxed) }

  /// Stops current and future operations.
  package func revoke() { state.store(true, ordering: .relaxed) }
}
