internal import ArborLocks

/// What ends an operation before it is done: the cancellation of the task that runs it, a deadline,
/// a budget of elements.
///
/// Whatever loops over rows, entries, pages or items counts each of them here, and stops where it
/// is told so:
///
/// ```swift
/// for item in items {
///   try limit.check()
///   write(item)
/// }
/// ```
///
/// Counting costs a subtraction. Task and clock are looked at from time to time: how many units lie
/// between two looks follows from how long the last ones took, so that a look comes about every
/// millisecond or sooner. Once a limit is exceeded it stays so until ``begin()``.
///
/// A limit belongs to the thread that runs the operation, and the task is the one that this thread
/// runs at the moment: work that is taken to a thread of its own has to be told of a cancellation
/// in another way.
package final class WorkLimit {
  /// How many units are counted before the first look.
  private static let firstStride = 16
  /// The most units between two looks: the next ones may take longer than the last.
  private static let longestStride = 1024
  /// The room of work that has to stop: too little even for no unit.
  private static let none = -1
  private static let soon = Duration.microseconds(250)
  private static let late = Duration.milliseconds(2)

  /// What ends the work beside its task; nil for nothing. It stays from operation to operation.
  package var revocation: Revocation?
  /// Why the work has to stop; nil while it may go on.
  package private(set) var interruption: Interruption?
  /// How many units may pass before the next look.
  @usableFromInline var room = firstStride
  private var stride = firstStride
  private var lastLook: ContinuousClock.Instant?
  /// When the present operation has to be done.
  private var end: ContinuousClock.Instant?
  /// Whether the two times above are others than those with which an operation begins without a
  /// deadline.
  private var hasTimes: Bool
  private var elementsLeft = Int.max
  private var mostElements = Int.max
  /// How much more computed values may take.
  package private(set) var valueRoom = WorkAllowance.standardValueSize
  private var largestValue = WorkAllowance.standardValueSize

  /// When every operation has to be done, from the next one on; nil for as long as it takes.
  package var deadline: ContinuousClock.Instant? { didSet { hasTimes = true } }

  package init(until deadline: ContinuousClock.Instant? = nil) {
    self.deadline = deadline
    end = deadline
    hasTimes = deadline != nil
  }

  /// Begins another operation, without a budget.
  @inline(__always)
  package func begin() {
    interruption = nil
    room = Self.firstStride
    stride = Self.firstStride
    elementsLeft = .max
    valueRoom = WorkAllowance.standardValueSize
    largestValue = WorkAllowance.standardValueSize
    // Apart, since instants are copied by calls.
    if hasTimes { beginTimes() }
  }

  @inline(never)
  private func beginTimes() {
    lastLook = nil
    end = deadline
    hasTimes = deadline != nil
  }

  /// Takes in what else limits the operation, which begins now.
  package func narrow(_ allowance: WorkAllowance) {
    if let timeLimit = allowance.timeLimit {
      let latest = ContinuousClock.now.advanced(by: timeLimit)
      end = end.map { min($0, latest) } ?? latest
      hasTimes = true
    }
    if let elements = allowance.elements, elements < elementsLeft {
      elementsLeft = max(0, elements)
      mostElements = elementsLeft
    }
    if let size = allowance.valueSize {
      largestValue = max(0, size)
      valueRoom = largestValue
    }
  }

  // MARK: Counting

  /// Counts units of work; false where the work has to stop.
  @inlinable
  package func admit(_ units: Int = 1) -> Bool {
    room -= units
    return room >= 0 || look()
  }

  /// Counts units of work.
  ///
  /// - Throws: Why the work has to stop.
  @inlinable
  package func check(_ units: Int = 1) throws(Interruption) {
    if !admit(units) { try stop() }
  }

  /// Counts elements of a collection, whose number the budget limits beside; false where the work
  /// has to stop.
  package func admitElements(_ count: Int) -> Bool {
    elementsLeft -= count
    if elementsLeft < 0 {
      elementsLeft = 0
      if interruption == nil { interruption = .elementsExceeded(mostElements) }
      room = Self.none
      return false
    }
    return admit()
  }

  /// Counts a computed value until it is released; false if the values held would be too large, or
  /// if the work has to stop for another reason.
  ///
  /// - Parameter size: The value's bytes and elements.
  package func hold(_ size: Int) -> Bool {
    valueRoom = valueRoom.subtractingReportingOverflow(size).partialValue
    if valueRoom < 0 {
      if interruption == nil { interruption = .valueTooLarge(largestValue) }
      room = Self.none
    }
    return interruption == nil
  }

  /// Gives back the room of a value that ``hold(_:)`` counted.
  package func release(_ size: Int) { valueRoom &+= size }

  /// Ends the operation, unless something else has.
  package func interrupt(_ interruption: Interruption) {
    if self.interruption == nil { self.interruption = interruption }
    room = Self.none
  }

  /// Looks at task and clock at once, for operations that take long at a stretch and for their
  /// beginnings.
  ///
  /// - Throws: Why the work has to stop.
  package func checkNow() throws(Interruption) {
    if interruption == nil {
      if isCancelled {
        interruption = .cancelled
      } else if let end, ContinuousClock.now >= end {
        interruption = .deadlineExceeded
      }
    }
    if interruption != nil { try stop() }
  }

  @usableFromInline
  func stop() throws(Interruption) {
    room = Self.none
    if let interruption { throw interruption }
  }

  private var isCancelled: Bool { Task<Never, Never>.isCancelled || revocation?.isRevoked ?? false }

  /// How many units should be taken together at most, where work is done in batches.
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
        stride = min(stride * 2, Self.longestStride)
      } else if elapsed > Self.late {
        stride = max(stride / 8, 1)
      }
    }
    lastLook = now
    hasTimes = true
    return true
  }
}

/// The limits of one operation: those of its request and of its predicates, combined.
package struct WorkAllowance: Sendable, Hashable {
  /// How long it may run; nil for as long as it takes.
  package var timeLimit: Duration?
  /// How many elements of collections it may evaluate; nil for any number.
  package var elements: Int?
  /// The bytes and elements that computed values may have; nil for ``standardValueSize``.
  package var valueSize: Int?

  /// The bytes of texts and data, and the elements of collections, that an operation holds at most
  /// while it computes values.
  package static let standardValueSize = 16 << 20

  package init(timeLimit: Duration? = nil, elements: Int? = nil, valueSize: Int? = nil) {
    self.timeLimit = timeLimit
    self.elements = elements
    self.valueSize = valueSize == Self.standardValueSize ? nil : valueSize
  }

  package var isUnlimited: Bool { timeLimit == nil && elements == nil && valueSize == nil }

  /// Returns the stricter of both limits.
  package func narrowed(by other: WorkAllowance) -> WorkAllowance {
    WorkAllowance(
      timeLimit: Self.lesser(timeLimit, other.timeLimit),
      elements: Self.lesser(elements, other.elements),
      valueSize: Self.lesser(valueSize, other.valueSize))
  }

  private static func lesser<Limit: Comparable>(_ left: Limit?, _ right: Limit?) -> Limit? {
    guard let left, let right else { return left ?? right }
    return min(left, right)
  }
}

/// Ends the operations of several contexts from outside, as the cancellation of their tasks does
/// from inside; see ``WorkLimit/revocation``.
package final class Revocation: Sendable {
  private let state = Atomic(false)

  package init() {}

  package var isRevoked: Bool { state.load(ordering: .relaxed) }

  /// Ends what runs and what comes.
  package func revoke() { state.store(true, ordering: .relaxed) }
}
