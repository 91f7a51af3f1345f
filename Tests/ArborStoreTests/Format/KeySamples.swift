import ArborModel
import ArborStore
import Foundation
import TestSupport

/// Sample values for keys, and their order determined without keys.
enum KeySamples {
  /// The kinds that have an order.
  static let kinds = FieldKind.allCases.filter { ![.tagged, .json].contains($0) }

  /// Returns values at the edges of a kind.
  static func edges(_ kind: FieldKind) -> [PropertyValue] {
    switch kind {
    case .boolean: [.null, .boolean(false), .boolean(true)]
    case .int16, .int32, .int64: [.null] + integers.map(PropertyValue.integer)
    case .reference: [.null] + [1, 2, 255, 256, 1 << 48, 1 << 62].map(PropertyValue.integer)
    case .float, .double: [.null] + doubles.map(PropertyValue.double)
    case .date: [.null] + doubles.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .decimal: [.null] + decimals.map { .decimal($0) }
    case .uuid:
      [.null, uuid(0, 0), uuid(0, 1), uuid(0, 0xFF), uuid(0x80, 0), uuid(0xFF, 0), uuid(0xFF, 1)]
    case .string: [.null] + strings.map(PropertyValue.string)
    case .uri: [.null] + strings.compactMap { URL(string: "a:" + $0) }.map(PropertyValue.uri)
    case .binary: [.null] + binaries.map { .binary(Data($0)) }
    case .tagged, .json: []
    }
  }

  private static let integers: [Int64] = {
    var numbers: [Int64] = [.min, .min + 1, .max - 1, .max, -1, 0, 1]
    for shift in [7, 8, 15, 16, 31, 32, 47, 48, 62] {
      let power: Int64 = 1 << shift
      numbers += [power - 1, power, power + 1, -power, -power - 1]
    }
    return numbers
  }()

  private static let doubles: [Double] = [
    -.infinity, -.greatestFiniteMagnitude, -1e300, -2, -1.5, -1, -.leastNormalMagnitude,
    -.leastNonzeroMagnitude, -0.0, 0, .leastNonzeroMagnitude, .leastNormalMagnitude, 0.1, 1,
    1.0.nextUp, 1.5, 2, 1e300, .greatestFiniteMagnitude, .infinity,
  ]

  private static let decimals: [Decimal] = [
    "0", "1", "-1", "0.1", "-0.1", "0.01", "10", "100", "12", "123", "1.23", "-1.23", "-123",
    "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999", "1e100",
    "-1e100", "1e-100", "-1e-100", "1.5", "1.50000000000000000000000001",
  ].compactMap { Decimal(string: $0) }

  private static let strings = [
    "", "\0", "\0\0", "\u{1}", "\u{1}\0", "\0\u{1}", "\u{2}", "a", "a\0", "a\0b", "a\u{1}", "ab",
    "b", "\u{7F}", "\u{80}", "é", "e\u{301}", "ß", "€", "\u{FFFF}", "😀", "\u{10FFFF}",
    String(repeating: "x", count: 477), String(repeating: "x", count: 478),
    String(repeating: "x", count: 478) + "\0", String(repeating: "x", count: 479),
    String(repeating: "x", count: 480), String(repeating: "x", count: 480) + "a",
    String(repeating: "\0", count: 239), String(repeating: "\0", count: 240),
    "1234567", "12345678", "1234567\u{1}", "12345678\u{1}", "123456789",
  ]

  private static let binaries: [[UInt8]] = {
    var binaries: [[UInt8]] = [[]]
    for first: UInt8 in [0, 1, 2, 0xFE, 0xFF] {
      binaries.append([first])
      for second: UInt8 in [0, 1, 2, 0xFF] { binaries.append([first, second]) }
    }
    return binaries
  }()

  private static func uuid(_ first: UInt8, _ last: UInt8) -> PropertyValue {
    .uuid(UUID(uuid: (first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last)))
  }

  /// Returns a random value of a kind, sometimes `nil` and often close to others.
  static func random(_ kind: FieldKind, using random: inout SeededRandom) -> PropertyValue {
    if Int.random(in: 0..<16, using: &random) == 0 { return .null }
    switch kind {
    case .boolean: return .boolean(.random(using: &random))
    case .int16: return .integer(Int64(Int16.random(in: .min ... .max, using: &random)))
    case .int32: return .integer(Int64(Int32.random(in: .min ... .max, using: &random)))
    case .int64: return .integer(Int64(bitPattern: random.next() >> (random.next() % 64)))
    case .reference: return .integer(Int64(random.next() >> (random.next() % 62 + 1)) + 1)
    case .float:
      let number = Float(double(using: &random))
      return .double(number.isFinite ? Double(number) : 0)
    case .double: return .double(double(using: &random))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: double(using: &random)))
    case .decimal:
      return .decimal(
        Decimal(
          sign: .random(using: &random) ? .plus : .minus,
          exponent: .random(in: -20...20, using: &random),
          significand: Decimal(Int64.random(in: 0...1000, using: &random))))
    case .uuid:
      let words = (random.next(), random.next() & 0xFF)
      return .uuid(UUID(uuid: unsafeBitCast(words, to: uuid_t.self)))
    case .uri:
      let path = string(using: &random).utf8.map { String($0, radix: 16) }.joined(separator: "/")
      return URL(string: "file:///\(path)").map(PropertyValue.uri) ?? .null
    case .binary, .tagged, .json: return .binary(Data(string(using: &random).utf8))
    case .string: return .string(string(using: &random))
    }
  }

  private static func double(using random: inout SeededRandom) -> Double {
    if Bool.random(using: &random) { return Double(Int.random(in: -50...50, using: &random)) / 4 }
    let number = Double(bitPattern: random.next())
    return number.isFinite ? number : 0
  }

  /// Returns a random Unicode string of up to 100,000 bytes, mostly short and often from few
  /// scalars.
  static func string(using random: inout SeededRandom) -> String {
    let length =
      switch Int.random(in: 0..<100, using: &random) {
      case 0: Int.random(in: 0...100_000, using: &random)
      case 1..<10: Int.random(in: 400...560, using: &random)
      default: Int.random(in: 0...20, using: &random)
      }
    var text = ""
    var size = 0
    let isNarrow = Bool.random(using: &random)
    while size < length {
      let range: ClosedRange<UInt32> = isNarrow ? 0...3 : 0...0x10FFFF
      guard let scalar = Unicode.Scalar(UInt32.random(in: range, using: &random)) else { continue }
      text.unicodeScalars.append(scalar)
      size += UTF8.width(scalar)
    }
    return text
  }

  /// Whether `left` sorts before `right`, which is of the same kind.
  static func isLess(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    switch (left, right) {
    case (.null, .null): false
    case (.null, _): true
    case (_, .null): false
    case (.boolean(let left), .boolean(let right)): !left && right
    case (.integer(let left), .integer(let right)): left < right
    case (.double(let left), .double(let right)): left < right
    case (.decimal(let left), .decimal(let right)): left < right
    case (.date(let left), .date(let right)): left < right
    case (.string(let left), .string(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
    case (.uri(let left), .uri(let right)):
      left.absoluteString.utf8.lexicographicallyPrecedes(right.absoluteString.utf8)
    case (.binary(let left), .binary(let right)): left.lexicographicallyPrecedes(right)
    case (.uuid(let left), .uuid(let right)):
      withUnsafeBytes(of: left.uuid) { left in
        withUnsafeBytes(of: right.uuid) { left.lexicographicallyPrecedes($0) }
      }
    default: preconditionFailure("Two values of one kind have one case.")
    }
  }

  /// Returns the key of a tuple, and whether it was truncated.
  static func key(
    _ values: [PropertyValue], columns: [KeyDecoder.Column]
  ) -> (bytes: [UInt8], isCut: Bool)? {
    var buffer = KeyBuffer()
    for (value, column) in zip(values, columns) {
      guard
        KeyEncoder.append(value, as: column.kind, isAscending: column.isAscending, to: &buffer)
      else { return nil }
    }
    return (Array(buffer.bytes), buffer.isCut)
  }
}
