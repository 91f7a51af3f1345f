internal import ArborFoundation

/// Functions of one or two single values.
enum ValueFunctions {
  // MARK: Numbers

  static func real(_ value: PropertyValue, _ function: (Double) -> Double) -> PropertyValue {
    value.floating.map { ValueArithmetic.number(function($0)) } ?? .null
  }

  /// Returns a number rounded to an integral value. Decimals and floating-point numbers keep their
  /// type.
  static func rounded(_ value: PropertyValue, _ rule: FloatingPointRoundingRule) -> PropertyValue {
    switch value {
    case .boolean(let flag): return .integer(flag ? 1 : 0)
    case .integer: return value
    case .double(let number): return ValueArithmetic.number(number.rounded(rule))
    case .decimal(let number):
      return ExactDecimal(number)?.rounded(rule).decimal.map(PropertyValue.decimal) ?? .null
    default: return .null
    }
  }

  static func magnitude(_ value: PropertyValue) -> PropertyValue {
    switch value {
    case .double(let number): ValueArithmetic.number(number.magnitude)
    case .decimal(let number):
      number.sign == .minus ? ValueArithmetic.negate(value) : (number.isNaN ? .null : value)
    case .integer(let number) where number < 0: ValueArithmetic.negate(value)
    default: value.wholeNumber.map(PropertyValue.integer) ?? .null
    }
  }

  /// Returns a random integer from 0 up to, but not including, a bound. Null if the bound is not
  /// positive.
  static func random(below bound: PropertyValue) -> PropertyValue {
    guard let bound = bits(bound), bound > 0 else { return .null }
    return .integer(Int64.random(in: 0..<bound))
  }

  // MARK: Bits

  /// Returns a number as 64 bits, or `nil` if it is not a 64-bit integer.
  private static func bits(_ value: PropertyValue) -> Int64? { value.wholeNumber ?? value.int64 }

  /// Returns the result of a bitwise operation. A shift by more than 63 bits shifts all bits out,
  /// and a negative shift reverses the direction.
  static func bitwise(
    _ left: PropertyValue, _ right: PropertyValue, _ operation: (Int64, Int64) -> Int64
  ) -> PropertyValue {
    guard let left = bits(left), let right = bits(right) else { return .null }
    return .integer(operation(left, right))
  }

  static func onesComplement(_ value: PropertyValue) -> PropertyValue {
    bits(value).map { .integer(~$0) } ?? .null
  }

  // MARK: Texts

  static func text(_ value: PropertyValue, _ function: (String) -> PropertyValue) -> PropertyValue {
    if case .string(let text) = value { function(text) } else { .null }
  }

  /// Returns the concatenation of strings, or null if an element or the separator is not a string.
  /// `nil` elements are skipped along with their separators.
  static func joined(_ elements: [PropertyValue], by separator: PropertyValue) -> PropertyValue {
    guard case .string(let separator) = separator else { return .null }
    var joined = ""
    var isFirst = true
    for element in elements {
      switch element {
      case .null: continue
      case .string(let text):
        if !isFirst { joined += separator }
        joined += text
        isFirst = false
      default: return .null
      }
    }
    return .string(joined)
  }

  // MARK: Locations

  /// Returns the distance in metres between two locations on the earth's surface, assuming a
  /// sphere.
  ///
  /// A location is a list of latitude and longitude in degrees, or a composite with these parts.
  static func distance(_ left: PropertyValue, _ right: PropertyValue) -> PropertyValue {
    guard let first = location(left), let second = location(right) else { return .null }
    let (latitude, otherLatitude) = (first.latitude * .pi / 180, second.latitude * .pi / 180)
    let rise = sin((otherLatitude - latitude) / 2)
    let turn = sin((second.longitude - first.longitude) * .pi / 360)
    let haversine = rise * rise + cos(latitude) * cos(otherLatitude) * turn * turn
    return ValueArithmetic.number(2 * earthRadius * asin(min(1, haversine.squareRoot())))
  }

  /// The mean radius in metres.
  private static var earthRadius: Double { 6_371_008.8 }

  private static func location(_ value: PropertyValue) -> (latitude: Double, longitude: Double)? {
    var parts: [PropertyValue?] = []
    switch value {
    case .list(let elements) where elements.count == 2: parts = elements
    case .composite(let named): parts = [named["latitude"], named["longitude"]]
    default: return nil
    }
    guard let latitude = parts[0]?.floating, let longitude = parts[1]?.floating,
      latitude.magnitude <= 90, longitude.magnitude <= 180
    else { return nil }
    return (latitude, longitude)
  }
}
