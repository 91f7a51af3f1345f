package import ArborFoundation

/// A parser of text in the format of a Unicode date pattern, as strict as ``ISO8601Date``.
///
/// `DateFormatter` supports the same patterns, but with millisecond precision only. It also parses
/// the year 12024 as 2024, rejects days without midnight in a time zone that the text contains, and
/// is many times slower.
///
/// | fields | matching text |
/// |---|---|
/// | `y`, `yyyy` | a year of up to six digits |
/// | `M`, `L`, `d`, `D`, `H`, `h`, `K`, `k`, `m`, `s` | numbers, with or without leading zeros |
/// | `S` | a fraction of a second, of any length |
/// | `MMM`, `MMMM`, `LLL`, `LLLL`, `EEE`, `EEEE`, `a` | localized names, ignoring case |
/// | `Z`, `X`, `x`, `O` | an offset from UTC |
/// | `VV` | the identifier of a time zone |
/// | `z`, `zzzz` | an offset, an identifier, or a name that `DateFormatter` supports |
///
/// A number that is immediately followed by another one has exactly as many digits as the pattern
/// has letters for it.
package struct PatternReader: Sendable {
  /// The parsed contents of a text.
  package struct Reading: Sendable {
    package enum Zone: Sendable {
      /// An offset in seconds east of UTC.
      case offset(Int)
      case region(TimeZone)
      /// Any other name.
      case named(String)
    }

    package let clock: ClockReading
    package let zone: Zone?
  }

  /// Kinds of names in a locale.
  package enum NameKind { case months, weekdays, halvesOfDay }

  /// A closure that returns the names of a kind: one list for each form, in the order of the
  /// numbers.
  package typealias Names = (NameKind) -> [[String]]

  fileprivate enum Field: Sendable {
    case year, month, day, dayOfYear, minute, second
    /// An hour from 0, an hour from 1 to 24, or an hour of half a day.
    case hour, hourFromOne, hourOfHalf
  }

  fileprivate enum Part: Sendable {
    case byte(UInt8)
    case blanks
    /// A number of exactly `width` digits or, if `width` is `nil`, of up to `maximumDigits`.
    case number(Field, width: Int?, maximumDigits: Int)
    case fraction
    /// The lowercase names of months with their numbers, longest first.
    case months([Name])
    /// The lowercase names of the halves of the day with their numbers, longest first.
    case halves([Name])
    /// The lowercase names of weekdays with their numbers, longest first.
    case weekdays([Name])
    case offset, zone
  }

  fileprivate typealias Name = (bytes: [UInt8], number: Int)

  private let parts: [Part]
  private let hasTime: Bool

  /// Creates a reader for a pattern, or returns `nil` if the pattern has unsupported or repeated
  /// fields, or no year.
  ///
  /// - Parameter names: The names in the pattern's locale.
  package init?(_ pattern: String, names: Names) {
    var compiler = PatternCompiler(pattern)
    guard compiler.compile(names) else { return nil }
    (parts, hasTime) = (compiler.parts, compiler.hasTime)
  }

  /// Returns the parsed contents of the entire text, or `nil` if it doesn't match the pattern.
  package func reading(_ text: String) -> Reading? {
    var text = text
    return text.withUTF8 { bytes in
      var reader = PatternCursor(bytes: UnsafeRawBufferPointer(bytes))
      return reader.reading(parts, hasTime)
    }
  }

  fileprivate static func lowercase(_ byte: UInt8) -> UInt8 {
    byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
  }
}

private struct PatternCompiler {
  private(set) var parts: [PatternReader.Part] = []
  private(set) var hasTime = false
  private let bytes: [UInt8]
  private var seen: Set<Unicode.Scalar> = []
  private var position = 0
  /// The number of pattern letters of the most recent number.
  private var lastWidth = 0

  init(_ pattern: String) { bytes = Array(pattern.utf8) }

  mutating func compile(_ names: PatternReader.Names) -> Bool {
    while position < bytes.count {
      let byte = bytes[position]
      let isLetter = PatternReader.lowercase(byte) &- UInt8(ascii: "a") < 26
      if byte == UInt8(ascii: "'") {
        guard addQuotation() else { return false }
      } else if isLetter {
        let count = bytes[position...].prefix { $0 == byte }.count
        guard addField(Unicode.Scalar(byte), count, names) else { return false }
        position += count
      } else {
        add(byte)
        position += 1
      }
    }
    let isOfOneKind = !(seen.contains("D") && (seen.contains("M") || seen.contains("d")))
    return seen.contains("y") && isOfOneKind
  }

  private mutating func add(_ byte: UInt8) {
    guard byte == UInt8(ascii: " ") else { return parts.append(.byte(byte)) }
    if case .blanks? = parts.last { return }
    parts.append(.blanks)
  }

  private mutating func addQuotation() -> Bool {
    position += 1
    let start = position
    while let end = bytes[position...].firstIndex(of: UInt8(ascii: "'")) {
      bytes[position..<end].forEach { add($0) }
      position = end + 1
      let isApostrophe = end == start
      // Inside quotes, too, two apostrophes represent one.
      let isDoubled = position < bytes.count && bytes[position] == UInt8(ascii: "'")
      if isApostrophe || isDoubled { add(UInt8(ascii: "'")) }
      if isApostrophe || !isDoubled { return true }
      position += 1
    }
    return false
  }

  private mutating func addField(
    _ letter: Unicode.Scalar, _ count: Int, _ names: PatternReader.Names
  ) -> Bool {
    let kind: Unicode.Scalar =
      switch letter {
      case "L": "M"
      case "h", "K", "k": "H"
      case "X", "x", "O", "z", "V": "Z"
      default: letter
      }
    guard seen.insert(kind).inserted else { return false }
    switch (letter, count) {
    case ("y", 1), ("y", 3...): addNumber(.year, count, maximumDigits: 6)
    case ("M", ...2), ("L", ...2): addNumber(.month, count)
    case ("M", 3...4), ("L", 3...4):
      parts.append(.months(Self.sorted(names(.months))))
    case ("d", ...2): addNumber(.day, count)
    case ("D", ...3): addNumber(.dayOfYear, count, maximumDigits: 3)
    case ("E", ...4):
      parts.append(.weekdays(Self.sorted(names(.weekdays))))
    case ("H", ...2): addNumber(.hour, count)
    case ("k", ...2): addNumber(.hourFromOne, count)
    case ("h", ...2), ("K", ...2): addNumber(.hourOfHalf, count)
    case ("m", ...2): addNumber(.minute, count)
    case ("s", ...2): addNumber(.second, count)
    case ("S", _):
      limitLastNumber()
      parts.append(.fraction)
    case ("a", ...3):
      parts.append(.halves(Self.sorted(names(.halvesOfDay) + [["AM", "PM"]])))
    case ("Z", ...3), ("Z", 5), ("X", ...5), ("x", ...5): parts.append(.offset)
    // A long zone name contains spaces, and so may the text that follows it.
    case ("z", 4) where position + count < bytes.count: return false
    case ("Z", 4), ("O", _), ("z", ...4), ("V", 2): parts.append(.zone)
    default: return false
    }
    switch kind {
    case "H", "m", "s", "S", "a": hasTime = true
    default: break
    }
    return true
  }

  private mutating func addNumber(
    _ field: PatternReader.Field, _ count: Int, maximumDigits: Int = 2
  ) {
    limitLastNumber()
    parts.append(.number(field, width: nil, maximumDigits: maximumDigits))
    lastWidth = count
  }

  /// Fixes the width of a number that is immediately followed by another one or by a fraction.
  private mutating func limitLastNumber() {
    guard case .number(let field, _, let maximumDigits)? = parts.last else { return }
    parts[parts.count - 1] = .number(field, width: lastWidth, maximumDigits: maximumDigits)
  }

  private static func sorted(_ lists: [[String]]) -> [PatternReader.Name] {
    var names: [PatternReader.Name] = []
    for list in lists {
      for (index, name) in list.enumerated() where !name.isEmpty {
        let bytes = name.utf8.map(PatternReader.lowercase)
        names.append((bytes, index))
        if bytes.last == UInt8(ascii: ".") { names.append((bytes.dropLast(), index)) }
      }
    }
    return names.sorted { $0.bytes.count > $1.bytes.count }
  }
}

/// The state of parsing a text.
private struct PatternCursor {
  typealias Reading = PatternReader.Reading

  private var cursor: ClockCursor
  private var year = 0
  private var (month, day, dayOfYear) = (1, 1, 0)
  private var (hour, minute, second, fraction) = (0, 0, 0, 0.0)
  private var half = 0
  private var isHourOfHalf = false
  private var zone: Reading.Zone?

  init(bytes: UnsafeRawBufferPointer) { cursor = ClockCursor(bytes: bytes) }

  mutating func reading(_ parts: [PatternReader.Part], _ hasTime: Bool) -> Reading? {
    skipBlanks()
    for (index, part) in parts.enumerated() {
      let next = index + 1 < parts.count ? parts[index + 1] : nil
      guard read(part, before: next) else { return nil }
    }
    skipBlanks()
    guard cursor.isAtEnd, year > 0 else { return nil }
    if isHourOfHalf { hour += half * 12 }
    guard
      let day = dayOfYear > 0
        ? GregorianDay(year: year, ordinal: dayOfYear)
        : GregorianDay(year: year, month: month, day: day),
      let time = ClockReading(
        day: day, hour: hour, minute: minute, second: second, fraction: fraction)
    else { return nil }
    return Reading(clock: hasTime ? time : ClockReading(day: day), zone: zone)
  }

  private mutating func read(_ part: PatternReader.Part, before next: PatternReader.Part?) -> Bool {
    switch part {
    case .byte(let byte): return cursor.skip(byte)
    case .blanks: return skipBlanks()
    case .number(let field, let width, let maximumDigits):
      return readNumber(field, width, maximumDigits)
    case .fraction: return readFraction()
    case .weekdays(let names): return name(names) != nil
    case .months(let names):
      guard let index = name(names) else { return false }
      month = index + 1
    case .halves(let names):
      guard let index = name(names) else { return false }
      half = index
    case .offset:
      guard let offset = offset() else { return false }
      zone = .offset(offset)
    case .zone: return readZone(before: next)
    }
    return true
  }

  private mutating func readNumber(
    _ field: PatternReader.Field, _ width: Int?, _ maximumDigits: Int
  ) -> Bool {
    guard let number = cursor.number(width ?? 1, width ?? maximumDigits) else { return false }
    switch field {
    case .year: year = number
    case .month: month = number
    case .day: day = number
    case .dayOfYear:
      dayOfYear = number
      return number > 0
    case .hour: hour = number
    case .hourFromOne:
      hour = number == 24 ? 0 : number
      return (1...24).contains(number)
    case .hourOfHalf:
      hour = number == 12 ? 0 : number
      isHourOfHalf = true
      return number <= 12
    case .minute: minute = number
    case .second: second = number
    }
    return true
  }

  private mutating func readFraction() -> Bool {
    guard let part = cursor.fraction(atMost: 18) else { return false }
    fraction = part
    return true
  }

  /// Parses a name and returns its number.
  private mutating func name(_ names: [PatternReader.Name]) -> Int? {
    for name in names where cursor.position + name.bytes.count <= cursor.bytes.count {
      let end = cursor.position + name.bytes.count
      if cursor.bytes[cursor.position..<end].lazy.map(PatternReader.lowercase).elementsEqual(
        name.bytes)
      {
        cursor.position = end
        return name.number
      }
    }
    return nil
  }

  // MARK: Zones

  /// Parses `Z`, `+0200`, `+02:00` or `+02`.
  private mutating func offset() -> Int? {
    if cursor.skip("Z") || cursor.skip("z") { return 0 }
    return signedOffset()
  }

  private mutating func signedOffset() -> Int? {
    let start = cursor.position
    let sign = cursor.skip("+") ? 1 : cursor.skip("-") ? -1 : 0
    guard sign != 0, let hours = cursor.number(1, 2), hours < 24 else {
      cursor.position = start
      return nil
    }
    let afterHours = cursor.position
    _ = cursor.skip(":")
    if let minutes = cursor.number(2), minutes < 60 { return sign * (hours * 3600 + minutes * 60) }
    cursor.position = afterHours
    return sign * hours * 3600
  }

  /// Parses an offset, `GMT+2`, an identifier, or a name that ends before the next part of the
  /// pattern.
  private mutating func readZone(before next: PatternReader.Part?) -> Bool {
    if let offset = offset() {
      zone = .offset(offset)
      return true
    }
    var end = cursor.bytes.count
    while end > cursor.position, cursor.bytes[end - 1] == UInt8(ascii: " ") { end -= 1 }
    switch next {
    case .byte(let byte)?: end = cursor.bytes[cursor.position..<end].firstIndex(of: byte) ?? end
    case .blanks?:
      end = cursor.bytes[cursor.position..<end].firstIndex(of: UInt8(ascii: " ")) ?? end
    default: break
    }
    let name = String(decoding: cursor.bytes[cursor.position..<end], as: UTF8.self)
    guard !name.isEmpty else { return false }
    if name.hasPrefix("GMT") || name.hasPrefix("UTC") {
      cursor.position += 3
      zone = .offset(cursor.position < end ? signedOffset() ?? 0 : 0)
      return cursor.position == end
    }
    cursor.position = end
    zone =
      (name.contains("/") ? TimeZone(identifier: name) : nil).map(Reading.Zone.region)
      ?? .named(name)
    return true
  }

  @discardableResult private mutating func skipBlanks() -> Bool {
    let start = cursor.position
    while cursor.skip(" ") {}
    return cursor.position > start
  }
}
