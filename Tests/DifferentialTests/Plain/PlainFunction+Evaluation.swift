import Foundation

extension PlainFunction {
  func value(_ arguments: [PlainValue]) -> PlainValue {
    let first = arguments.first ?? .null
    switch self {
    case .sum: return PlainStatistics.sum(Self.members(arguments))
    case .count: return .integer(Int64(Self.members(arguments).count))
    case .min: return PlainStatistics.extreme(Self.members(arguments), -1)
    case .max: return PlainStatistics.extreme(Self.members(arguments), 1)
    case .average: return PlainStatistics.average(Self.members(arguments))
    case .median: return PlainStatistics.median(Self.members(arguments))
    case .stddev: return PlainStatistics.deviation(Self.members(arguments))
    case .mode: return PlainStatistics.mode(Self.members(arguments))
    case .distinct:
      guard case .list(let members) = first else { return .null }
      return .list(PlainStatistics.distinct(members))
    case .sqrt: return real(first) { Foundation.sqrt($0) }
    case .log: return real(first) { Foundation.log10($0) }
    case .ln: return real(first) { Foundation.log($0) }
    case .exp: return real(first) { Foundation.exp($0) }
    case .floor: return rounded(first, .down)
    case .ceiling: return rounded(first, .up)
    case .trunc: return rounded(first, .towardZero)
    case .abs: return first.compared(to: .integer(0)) < 0 ? negated(first) : number(first)
    case .uppercase: return text(first) { $0.properties.uppercaseMapping }
    case .lowercase: return text(first) { $0.properties.lowercaseMapping }
    case .canonical:
      guard case .text(let text) = first else { return .null }
      return .text(PlainText.fold(text, case: true, diacritics: true))
    case .length:
      guard case .text(let text) = first else { return .null }
      return .integer(Int64(text.count))
    case .concat: return joined(arguments, between: "")
    case .join:
      guard case .list(let members) = first else { return .null }
      if arguments.count == 1 { return joined(members, between: "") }
      guard case .text(let separator) = arguments[1] else { return .null }
      return joined(members, between: separator)
    case .noindex: return first
    }
  }

  /// Flattens lists; a single null stands for no arguments.
  private static func members(_ arguments: [PlainValue]) -> [PlainValue] {
    arguments.flatMap { argument -> [PlainValue] in
      if case .list(let members) = argument { return members }
      return argument.isNull && arguments.count == 1 ? [] : [argument]
    }
  }

  /// Joins the strings, ignoring nulls.
  private func joined(_ members: [PlainValue], between separator: String) -> PlainValue {
    let present = members.filter { !$0.isNull }
    let texts = present.compactMap { if case .text(let text) = $0 { text } else { nil } }
    return texts.count == present.count ? .text(texts.joined(separator: separator)) : .null
  }

  private func real(_ value: PlainValue, _ function: (Double) -> Double) -> PlainValue {
    PlainArithmetic.double(value).map { PlainArithmetic.plain(function($0)) } ?? .null
  }

  /// Converts a number; Booleans count as integers.
  private func number(_ value: PlainValue) -> PlainValue {
    if let whole = PlainArithmetic.whole(value) { return .integer(whole) }
    return value.family == .number ? value : .null
  }

  private func negated(_ value: PlainValue) -> PlainValue {
    value.family == .number ? PlainArithmetic.negated(value) : .null
  }

  private func rounded(_ value: PlainValue, _ rule: FloatingPointRoundingRule) -> PlainValue {
    switch value {
    case .double(let number): return PlainArithmetic.plain(number.rounded(rule))
    case .decimal(let number):
      // Truncate the decimal places, then adjust by one if the rounding rule requires it.
      let text = "\(number)".split(separator: ".")
      guard let whole = Decimal(string: String(text[0])) else { return .null }
      if text.count == 1 { return .decimal(number) }
      if rule == .down, number < 0 { return .decimal(whole - 1) }
      if rule == .up, number > 0 { return .decimal(whole + 1) }
      return .decimal(whole)
    default: return self.number(value)
    }
  }

  private func text(
    _ value: PlainValue, _ mapping: (Unicode.Scalar) -> String
  ) -> PlainValue {
    guard case .text(let text) = value else { return .null }
    return .text(text.unicodeScalars.map(mapping).joined())
  }
}

extension PlainCast {
  func value(_ value: PlainValue) -> PlainValue {
    switch self {
    case .number: number(value)
    case .decimal: decimal(value)
    case .text: text(value)
    case .date: date(value)
    }
  }

  private func number(_ value: PlainValue) -> PlainValue {
    switch value {
    case .boolean(let flag): .integer(flag ? 1 : 0)
    case .integer, .double, .decimal: value
    case .date(let seconds): .double(seconds)
    case .text(let text):
      Int64(text).map(PlainValue.integer) ?? Double(text).map(PlainValue.double) ?? .null
    default: .null
    }
  }

  private func decimal(_ value: PlainValue) -> PlainValue {
    switch value {
    case .decimal: return value
    case .boolean, .integer:
      return PlainArithmetic.whole(value).map { .decimal(Decimal($0)) } ?? .null
    case .text(let text):
      guard Double(text) != nil else { return .null }
      return Decimal(string: text).map(PlainValue.decimal) ?? .null
    default: return .null
    }
  }

  private func text(_ value: PlainValue) -> PlainValue {
    switch value {
    case .text: return value
    case .boolean, .integer:
      return PlainArithmetic.whole(value).map { .text("\($0)") } ?? .null
    case .double(let number):
      return .text(Int64(exactly: number).map { "\($0)" } ?? "\(number)")
    case .decimal(let number): return .text("\(number)")
    case .uuid(let uuid): return .text(uuid.uuidString)
    case .uri(let text): return .text(text)
    default: return .null
    }
  }

  private func date(_ value: PlainValue) -> PlainValue {
    if case .date = value { return value }
    guard let seconds = PlainArithmetic.double(number(value)), seconds.isFinite else {
      return .null
    }
    return .date(seconds)
  }
}
