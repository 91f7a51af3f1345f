import ArborJSON
import Foundation

/// Points in time as numbers since 1970.
enum UnixTime: String {
  case seconds = "UnixTime"
  case milliseconds = "UnixTimeMilliseconds"
  case microseconds = "UnixTimeMicroseconds"

  /// From this number on, about 5138 in seconds and 1973 in milliseconds, ``detected(_:)`` takes a
  /// number to be in the next smaller unit.
  private static let largestSeconds = 1e11
  private static let largestMilliseconds = 1e14

  static let expectation = "seconds, milliseconds or microseconds since 1970"

  /// The parts of a second that the unit counts.
  private var scale: Double {
    switch self {
    case .seconds: 1
    case .milliseconds: 1e3
    case .microseconds: 1e6
    }
  }

  /// The unit of a number by its size.
  private static func unit(of number: Double) -> UnixTime {
    switch abs(number) {
    case ..<largestSeconds: .seconds
    case ..<largestMilliseconds: .milliseconds
    default: .microseconds
    }
  }

  /// The date of a number in the unit that its size suggests.
  static func detected(_ number: Double) -> Date { unit(of: number).date(number) }

  /// The date of a number in this unit.
  func date(_ number: Double) -> Date { Date(timeIntervalSince1970: number / scale) }

  /// The number of a date: a whole one if that denotes the same date.
  func number(_ date: Date) -> Double {
    let number = date.timeIntervalSince1970 * scale
    return self.date(number.rounded()) == date ? number.rounded() : number
  }

  /// The seconds of a date; nil if ``detected(_:)`` would take them to be in another unit.
  static func detectableSeconds(_ date: Date) -> Double? {
    let number = seconds.number(date)
    return unit(of: number) == .seconds ? number : nil
  }
}
