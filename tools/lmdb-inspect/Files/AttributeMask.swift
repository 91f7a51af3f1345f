import ArborModel
import Foundation

/// A mask that replaces an attribute's values with artificial ones. With the same key, equal values
/// have equal replacements. Different values almost certainly have different replacements, unless
/// the type or the bounds allow only a few. Without the key, guesses of a value cannot be verified.
struct AttributeMask {
  let attribute: AttributeDescription
  let key: String

  /// Returns whether values of a type can be replaced.
  static func canMask(_ type: AttributeType) -> Bool {
    switch type {
    case .json, .transformable, .composite, .undefined: false
    default: true
    }
  }

  /// Returns the replacement of a value. Null remains null.
  func masked(_ value: PropertyValue) -> PropertyValue {
    if value.isNull { return value }
    let hash = SHA256.hash(Array("\(key)\u{0}\(text(of: value))".utf8))
    let number = hash[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    switch attribute.type {
    case .boolean: return .boolean(number & 1 == 1)
    case .integer16: return .integer(whole(number, 0...Int64(Int16.max)))
    case .integer32: return .integer(whole(number, 0...Int64(Int32.max)))
    case .integer64: return .integer(whole(number, 0...Int64.max))
    case .float, .double: return .double(real(number, 0, 1_000_000))
    case .decimal:
      return .decimal(Decimal(whole(number, 0...999_999_999)))
    case .string: return .string(text(hash))
    case .date:
      // A whole second in the years 1970 to 2029.
      return .date(
        Date(timeIntervalSinceReferenceDate: real(number, -978_307_200, 915_148_800).rounded(.down))
      )
    case .binary: return .binary(Data(hash[..<16]))
    case .uuid: return uuid(hash)
    case .uri:
      return URL(string: "https://masked.invalid/\(hexadecimal(hash))").map(PropertyValue.uri)
        ?? .null
    case .json, .transformable, .composite, .undefined: return .null
    }
  }

  /// Returns a string that is equal only for equal values.
  private func text(of value: PropertyValue) -> String {
    switch value {
    case .binary(let data): data.base64EncodedString()
    case .date(let date): "\(date.timeIntervalSinceReferenceDate)"
    default: "\(value)"
    }
  }

  /// Returns an integer within the attribute's bounds, or else within a range.
  private func whole(_ number: UInt64, _ range: ClosedRange<Int64>) -> Int64 {
    let low = bound(attribute.minimum).flatMap { Int64(exactly: $0.rounded(.up)) }
    let high = bound(attribute.maximum).flatMap { Int64(exactly: $0.rounded(.down)) }
    let least = low ?? min(range.lowerBound, high ?? range.lowerBound)
    let most = high ?? max(range.upperBound, least)
    guard least < most else { return least }
    let width = UInt64(bitPattern: most &- least)
    let step = width == .max ? number : number % (width + 1)
    return least &+ Int64(bitPattern: step)
  }

  private func real(_ number: UInt64, _ lowest: Double, _ highest: Double) -> Double {
    let least = bound(attribute.minimum) ?? min(lowest, bound(attribute.maximum) ?? lowest)
    let most = bound(attribute.maximum) ?? max(highest, least)
    let share = Double(number >> 12) / Double(UInt64(1) << 52)
    let value = least + (most - least) * share
    return attribute.type == .float ? Double(Float(value)) : value
  }

  private func bound(_ value: PropertyValue) -> Double? {
    switch value {
    case .integer(let number): Double(number)
    case .double(let number): number
    case .decimal(let number): Double("\(number)")
    case .date(let date): date.timeIntervalSinceReferenceDate
    default: nil
    }
  }

  /// Returns sixteen letters and digits, or as many as the attribute's bounds require.
  private func text(_ hash: [UInt8]) -> String {
    var text = "x" + hexadecimal(hash).prefix(15)
    if let least = bound(attribute.minimum), least < 1_000_000 {
      while Double(text.count) < least { text += text }
    }
    if let most = bound(attribute.maximum), most >= 0, Double(text.count) > most {
      text = String(text.suffix(Int(most)))
    }
    return text
  }

  private func hexadecimal(_ hash: [UInt8]) -> String {
    hash.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }

  private func uuid(_ hash: [UInt8]) -> PropertyValue {
    var digits = Array(hexadecimal(Array(hash[..<16])))
    // The version and variant of a random UUID.
    digits[12] = "4"
    digits[16] = "8"
    for index in [20, 16, 12, 8] { digits.insert("-", at: index) }
    return UUID(uuidString: String(digits)).map(PropertyValue.uuid) ?? .null
  }
}
