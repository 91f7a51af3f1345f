import ArborJSON
import ArborExchange
import ArborLocale
import ArborModel
import Foundation
import TestSupport
import Testing

@Suite struct JSONNumberFormatTests {
  @Test(
    "Numbers are parsed according to the format",
    arguments: [
      ("1.234.567,89", "1234567.89"), ("0,5", "0.5"), ("-1.000", "-1000"), ("+7", "7"),
      (" 12 ", "12"), ("007", "7"), ("\u{2212}3,50", "-3.50"), ("12.34.567", "1234567"),
      ("123456789012345678901234567890,123", "123456789012345678901234567890.123"), (",5", "0.5"),
      ("-,25", "-0.25"), ("1e5", "1e5"), ("1.234,5E-2", "1234.5e-2"),
    ])
  func textsAreReadInTheirFormat(text: String, number: String) {
    let german = JSONNumberFormat(decimalSeparator: ",", groupingSeparator: ".")
    #expect(german.number(text)?.text == number)
  }

  @Test(
    "Text that is not a number yields nil",
    arguments: [
      "", " ", "-", "x", "1,", ",", "1,2,3", "1.2", "1.23", "1234.567", "1..234", ".234", "1.2345",
      "--1", "e5", "1e", "1e+", "1e5,5", "1ee5", "1 234", "\u{661}",
    ])
  func whatIsNoNumberIsNil(text: String) {
    #expect(JSONNumberFormat(decimalSeparator: ",", groupingSeparator: ".").number(text) == nil)
  }

  @Test("Locales have their number formats")
  func localesHaveTheirFormats() {
    let german = JSONNumberFormat(locale: Locale(identifier: "de_DE"))
    #expect(german == JSONNumberFormat(decimalSeparator: ",", groupingSeparator: "."))
    let french = JSONNumberFormat(locale: Locale(identifier: "fr_FR"))
    // Any kind of space is accepted.
    for space in [" ", "\u{A0}", "\u{202F}"] {
      #expect(french.number("1\(space)234,5")?.double == 1_234.5)
    }
    #expect(
      JSONNumberFormat().number("1,234") == nil && JSONNumberFormat().number("1.5")?.double == 1.5)
  }

  @Test("Formatting and parsing a number are inverse operations")
  func textsComeBackAsTheyWere() throws {
    let format = JSONNumberFormat(decimalSeparator: ",", groupingSeparator: ".")
    for text in ["0", "-1", "999", "1.000", "-12.345.678,25", "0,1"] {
      let number = try #require(format.number(text))
      #expect(format.text(number) == text)
    }
    var random = SeededRandom()
    for _ in 0..<500 {
      let number = JSONNumber(Int64.random(in: .min ... .max, using: &random))
      let text = try #require(format.text(number))
      #expect(format.number(text) == number, "seed \(random.seed): \(text)")
    }
    #expect(format.text(try #require(JSONNumber(1e300))) == nil)
  }
}
