internal import ArborFoundation

/// An integer that was read or computed, or the reason there isn't one.
struct WholeNumber {
  enum State: UInt8 {
    case number
    case missing
    /// The number exceeds 64 bits. The general code computes it as a decimal.
    case overflow
  }

  let value: Int64
  let state: State

  @inline(__always)
  init(_ value: Int64) {
    self.value = value
    state = .number
  }

  private init(_ state: State) {
    value = 0
    self.state = state
  }

  static let missing = WholeNumber(.missing)
  static let overflow = WholeNumber(.overflow)
}

/// Typed arithmetic on the numbers and dates of a record, equivalent to ``ValueArithmetic``.
enum NumberCode {
  case whole(WholeCode)
  /// A floating-point number, or a date as seconds since 2001-01-01 UTC.
  case real(RealCode, isDate: Bool)

  struct WholeCode {
    /// Whether the number is a field or a constant, and therefore never exceeds 64 bits.
    let isPlain: Bool
    let read: (RecordView, ObjectNumber, (any RecordResolver)?) -> WholeNumber
  }

  struct RealCode {
    /// A closure that returns the number, or NaN for `nil`.
    let read: (RecordView, ObjectNumber, (any RecordResolver)?) -> Double
  }

  /// The code with floating-point results, or `nil` for integers that may exceed 64 bits and for
  /// dates.
  private var real: RealCode? {
    switch self {
    case .real(let code, false): return code
    case .real: return nil
    case .whole(let code):
      guard code.isPlain else { return nil }
      let read = code.read
      return RealCode { record, number, resolver in
        let whole = read(record, number, resolver)
        return whole.state == .number ? Double(whole.value) : .nan
      }
    }
  }

  // MARK: Leaves

  init?(_ value: PropertyValue) {
    switch value {
    case .integer(let number):
      self = .whole(WholeCode(isPlain: true) { _, _, _ in WholeNumber(number) })
    case .double(let number) where !number.isNaN:
      self = .real(RealCode { _, _, _ in number }, isDate: false)
    case .date(let date):
      let seconds = date.timeIntervalSinceReferenceDate
      guard !seconds.isNaN else { return nil }
      self = .real(RealCode { _, _, _ in seconds }, isDate: true)
    default: return nil
    }
  }

  init?(_ field: RecordField) {
    switch (field.kind.form, field.kind.width) {
    case (.flag, _): self = .whole(field, Int8.self)
    case (.whole, 2): self = .whole(field, Int16.self)
    case (.whole, 4): self = .whole(field, Int32.self)
    case (.whole, _): self = .whole(field, Int64.self)
    case (.real, 4):
      self = .real(
        RealCode { record, _, _ in
          record.isNull(field) ? .nan : Double(record.load(field, as: Float.self))
        }, isDate: false)
    case (.real, _):
      self = .real(
        RealCode { record, _, _ in
          record.isNull(field) ? .nan : record.load(field, as: Double.self)
        }, isDate: field.kind == .date)
    default: return nil
    }
  }

  private static func whole<Number: FixedWidthInteger & BitwiseCopyable>(
    _ field: RecordField, _ type: Number.Type
  ) -> NumberCode {
    .whole(
      WholeCode(isPlain: true) { record, _, _ in
        record.isNull(field) ? .missing : WholeNumber(Int64(record.load(field, as: Number.self)))
      })
  }

  // MARK: Operations

  /// Creates an operation on two numbers, or returns `nil` if it has no typed form.
  init?(_ function: PredicateFunction, _ left: NumberCode, _ right: NumberCode) {
    if case .whole(let left) = left, case .whole(let right) = right {
      guard let code = Self.whole(function, left, right) else { return nil }
      self = .whole(code)
      return
    }
    switch (function, left, right) {
    case (.subtract, .real(let left, true), .real(let right, true)):
      self = .real(Self.combine(left, right) { $0 - $1 }, isDate: false)
    case (.add, .real(let date, true), let number), (.add, let number, .real(let date, true)):
      guard let seconds = number.real else { return nil }
      self = .real(Self.combine(date, seconds) { Self.finite($0 + $1) }, isDate: true)
    case (.subtract, .real(let date, true), let number):
      guard let seconds = number.real else { return nil }
      self = .real(Self.combine(date, seconds) { Self.finite($0 - $1) }, isDate: true)
    default:
      guard let left = left.real, let right = right.real,
        let code = Self.real(function, left, right)
      else { return nil }
      self = .real(code, isDate: false)
    }
  }

  @inline(__always)
  private static func finite(_ seconds: Double) -> Double { seconds.isFinite ? seconds : .nan }

  private static func whole(
    _ function: PredicateFunction, _ left: WholeCode, _ right: WholeCode
  ) -> WholeCode? {
    switch function {
    case .add: combine(left, right) { $0.addingReportingOverflow($1) }
    case .subtract: combine(left, right) { $0.subtractingReportingOverflow($1) }
    case .multiply: combine(left, right) { $0.multipliedReportingOverflow(by: $1) }
    case .divide: combine(left, right, refusesZero: true) { $0.dividedReportingOverflow(by: $1) }
    case .modulus:
      combine(left, right, refusesZero: true) {
        ($0.remainderReportingOverflow(dividingBy: $1).partialValue, false)
      }
    default: nil
    }
  }

  @inline(__always)
  private static func combine(
    _ left: WholeCode, _ right: WholeCode, refusesZero: Bool = false,
    _ operation: @escaping (Int64, Int64) -> (partialValue: Int64, overflow: Bool)
  ) -> WholeCode {
    let (left, right) = (left.read, right.read)
    return WholeCode(isPlain: false) { record, number, resolver in
      let first = left(record, number, resolver)
      let second = right(record, number, resolver)
      guard first.state == .number, second.state == .number else {
        // If one operand exceeds 64 bits and the other is `nil`, the result is `nil`.
        let isMissing = first.state == .missing || second.state == .missing
        return isMissing ? .missing : .overflow
      }
      if refusesZero, second.value == 0 { return .missing }
      let (value, overflows) = operation(first.value, second.value)
      return overflows ? .overflow : WholeNumber(value)
    }
  }

  private static func real(
    _ function: PredicateFunction, _ left: RealCode, _ right: RealCode
  ) -> RealCode? {
    switch function {
    case .add: combine(left, right) { $0 + $1 }
    case .subtract: combine(left, right) { $0 - $1 }
    case .multiply: combine(left, right) { $0 * $1 }
    case .divide: combine(left, right) { $1 == 0 ? .nan : $0 / $1 }
    case .modulus: combine(left, right) { $1 == 0 ? .nan : $0.truncatingRemainder(dividingBy: $1) }
    default: nil
    }
  }

  @inline(__always)
  private static func combine(
    _ left: RealCode, _ right: RealCode, _ operation: @escaping (Double, Double) -> Double
  ) -> RealCode {
    let (left, right) = (left.read, right.read)
    return RealCode { record, number, resolver in
      operation(left(record, number, resolver), right(record, number, resolver))
    }
  }
}
