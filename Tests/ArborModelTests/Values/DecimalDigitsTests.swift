import ArborModel
import Foundation
import Testing

@Suite struct DecimalDigitsTests {
  private func digits(_ text: String, _ exponent: Int, _ isNegative: Bool = false) -> DecimalDigits
  {
    DecimalDigits(
      isNegative: isNegative, digits: text.utf8.map { $0 - UInt8(ascii: "0") }, exponent: exponent)
  }

  @Test("Doubles have their shortest decimal digits")
  func doublesAreTheirShortestDecimals() {
    #expect(DecimalDigits(9.99) == digits("999", 1))
    #expect(DecimalDigits(-0.05) == digits("5", -1, true))
    #expect(DecimalDigits(1e300) == digits("1", 301))
    #expect(DecimalDigits(.leastNonzeroMagnitude) == digits("5", -323))
    #expect(DecimalDigits(-0.0) == digits("", 0))
    #expect(DecimalDigits(0x1p62) == DecimalDigits(Int64(1) << 62))
    #expect(DecimalDigits(shortest: 0x1p62) == digits("4611686018427388", 19))
    #expect(DecimalDigits(Int64.min) == digits("9223372036854775808", 19, true))
    #expect(DecimalDigits(Int64(1200)) == digits("12", 4))
  }

  @Test("Leading and trailing zeros are ignored")
  func zerosAtBothEndsSayNothing() {
    let number = DecimalDigits(isNegative: false, text: "00120.500".utf8, exponent: -3)
    #expect(number == digits("1205", 3))
    #expect(DecimalDigits(isNegative: true, text: "0.00".utf8, exponent: -2) == digits("", 0))
  }

  @Test("Digits beyond the range of `Decimal` yield `nil`")
  func whatNoDecimalHoldsIsNil() {
    #expect(digits("1", 129).decimal == Decimal(string: "10e127"))
    #expect(
      digits("1", 165).decimal == Decimal(string: "1" + String(repeating: "0", count: 37) + "e127"))
    #expect(digits("1", 170).decimal == nil)
    #expect(digits("1", -127).decimal == Decimal(string: "1e-128"))
    #expect(digits("1", -128).decimal == nil)
    #expect(digits("15", -127).decimal == nil)
    #expect(digits(String(repeating: "9", count: 39), 39).decimal == nil)
    #expect(digits(String(repeating: "9", count: 40), 40).decimal == nil)
    #expect(digits("", 0).decimal == 0)
  }
}
