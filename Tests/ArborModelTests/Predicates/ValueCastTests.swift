import ArborModel
import Foundation
import Testing

/// Casts, and arithmetic with dates and numbers.
@Suite struct ValueCastTests {
  @Test(
    "Casts and date arithmetic have the listed values",
    arguments: [
      "CAST(CAST(5, 'NSDate'), 'NSNumber') == 5", "CAST('12', 'NSNumber') == 12",
      "CAST('1.5', 'NSNumber') == 1.5", "CAST(length('abcde'), 'NSString') == '5'",
      "CAST(1.0 + 4, 'NSString') == '5'", "CAST('x' , 'NSNumber') == nil",
      "CAST(now(), 'NSDate') == now()", "CAST(lowercase('A'), 'NSUUID') == nil",
      "CAST(CAST(0, 'NSDate'), 'NSString') BEGINSWITH '2001-01-01 00:00:00'",
      "CAST(5, 'NSDate') + 5 == CAST(10, 'NSDate')", "5 + CAST(5, 'NSDate') == CAST(10, 'NSDate')",
      "CAST(5, 'NSDate') - 5 == CAST(0, 'NSDate')", "CAST(9, 'NSDate') - CAST(5, 'NSDate') == 4",
      "now() - now() == 0", "CAST(length('abc') / 2, 'Int') == 1",
    ])
  func castsAndDates(_ text: String) throws {
    #expect(try PredicateWorld.holds(text), "\(text)")
  }
}
