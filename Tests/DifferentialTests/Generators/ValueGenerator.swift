import Foundation

/// A generator of few distinct values per kind, so that matches, ties and collisions are frequent,
/// and of extreme ones.
struct ValueGenerator {
  let dice: Dice

  /// Returns a value that an attribute can store, never null.
  func value(for attribute: PlainModel.Attribute) -> PlainValue {
    attribute.hasWords ? .text(dice.one(Self.words)) : value(attribute.kind)
  }

  /// Returns a value that an attribute of a kind can store, never null.
  func value(_ kind: PlainModel.Kind) -> PlainValue {
    switch kind {
    case .integer16: .integer(dice.one([-1, 0, 1, 2, 3, 7, -32768, 32767]))
    case .integer32: .integer(dice.one([-1, 0, 1, 2, 3, 100, -2_147_483_648, 2_147_483_647]))
    case .integer64:
      .integer(dice.one([-1, 0, 1, 2, 3, .min, .max, .max - 1, 1 << 53, 1 << 53 + 1]))
    case .boolean: .boolean(dice.chance(50))
    case .float: .double(Double(dice.one(Self.floats)))
    case .double: .double(dice.one(Self.doubles))
    case .decimal: .decimal(dice.one(Self.decimals))
    case .text: .text(dice.one(Self.texts))
    case .date: .date(dice.one(Self.dates))
    case .bytes: .bytes(dice.one([[], [0], [0, 1], [1], [1, 0], [255], [97, 98, 99]]))
    case .uuid: .uuid(dice.one(Self.uuids))
    case .uri: .uri(dice.one(Self.uris))
    }
  }

  /// Returns a value that can be ordered relative to those of a kind, at times of another numeric
  /// type.
  func comparable(with kind: PlainModel.Kind) -> PlainValue {
    guard kind.family == .number else { return value(kind) }
    if dice.chance(3) { return .double(dice.one([.infinity, -.infinity])) }
    if kind == .boolean, dice.chance(60) { return value(.boolean) }
    return value(
      dice.one([
        kind, .integer16, .integer32, .integer64, .double, .double, .decimal, .float, .boolean,
      ]))
  }

  /// Returns a value of any kind that may be compared with one of a kind, which excludes numbers
  /// with binary data.
  func anything(beside kind: PlainModel.Kind) -> PlainValue {
    let other = dice.one(PlainModel.Kind.allCases)
    let isRefused =
      kind == .bytes && other.family == .number || kind.family == .number && other == .bytes
    return value(isRefused ? kind : other)
  }

  private static let floats: [Float] = [
    0, -0.0, 1, 1.5, 0.1, -2.25, 16_777_216, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
    .infinity, -.infinity,
  ]
  private static let doubles: [Double] = [
    0, -0.0, 1, 1.5, 0.1, 2, 2.5, -2.25, 1e300, -1e-300, 0x1p53, 0x1p63, -0x1p63, 9.99, 1e20,
    .greatestFiniteMagnitude, .leastNonzeroMagnitude, 0.1 + 0.2, .infinity, -.infinity,
  ]
  private static let decimals: [Decimal] = [
    "0", "1", "1.5", "0.1", "9.99", "-2.25", "2", "1e30", "-1e-30", "0.3",
    "12345678901234567890123456789.123456789", "9223372036854775807", "9223372036854775808",
    "99999999999999999999999999999999999999",
  ].compactMap { Decimal(string: $0) }
  private static let dates: [Double] = [
    0, 1, -1, 0.5, 700_000_000, 700_000_000.5, 700_000_000.25, -63_114_076_800, 1e12,
  ]
  private static let uuids: [UUID] = [
    "00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001",
    "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
  ].compactMap { UUID(uuidString: $0) }
  private static let uris = [
    "https://a.example/", "https://a.example/b", "https://b.example/", "urn:x:1", "file:///a%20b",
  ]

  private static let words = [
    "", "a", "A", "ab", "Ab", "b", "\u{E9}", "\u{C9}", "e", "E", "z", "\u{E4}", "item 9", "item 10",
    "item 010", "Item 9", "9", "10", "a9b", "a10b",
  ]
  private static let long = String(repeating: "x", count: 600)
  /// Strings that are equal if case or diacritics are ignored, strings that are special in patterns
  /// and literals, and some whose index keys are truncated.
  static let texts: [String] = [
    "", "a", "A", "b", "B", "ab", "Ab", "AB", "abc", "aab", "ba", "e", "E", "\u{E9}", "e\u{301}",
    "\u{C9}", "E\u{301}", "\u{E9}a", "ea", "\u{DF}", "ss", "SS", "\u{1E9E}", "\u{130}", "i\u{307}",
    "i", "I", "\u{131}", "\u{3C3}", "\u{3C2}", "\u{3A3}", "\u{FB01}", "fi", "\u{1F600}",
    "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", "a\u{1F600}b", "a*b", "a?b", "*", "?", "\\",
    "a\\b", "'", "\"", "a\"b'c", "%@", "%", "$x", "\u{301}", "a\nb", " ", "a b", "a\u{0}b", "\u{0}",
    "a\u{323}\u{301}", "\u{E1}\u{323}", "\u{212A}", "k", "K", "z", "item 9", "item 10", long,
    long + "a", long + "b", "\u{FFFF}", "\u{10FFFF}",
  ]
}
