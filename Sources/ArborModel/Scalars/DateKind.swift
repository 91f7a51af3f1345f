package import ArborJSON
internal import Foundation

/// Points in time, kept as seconds since 2001-01-01 UTC.
package enum DateKind: AttributeKind {
  package static var type: AttributeType { .date }
  package static var field: FieldKind { .date }
  package static var fingerprintCode: UInt8 { 9 }
  package static var xmlName: String { "Date" }
  package static var jsonName: String { "date" }
  package static var swiftName: String { "Date" }
  package static var expectation: String { "a date" }
  package static var valueKind: ValueKind { .date }
  package static var boundType: AttributeType? { type }
  package static var hasXMLDefault: Bool { false }

  package static func keeps(_ value: Value) -> Bool { value.date != nil && !value.containsNaN }

  package static func restored(_ value: Value) -> Value? {
    if case .double(let seconds) = value { return self.value(ofReal: seconds) }
    return restoredPlainly(value)
  }

  package static func value(ofJSON number: JSONNumber) -> Value? {
    number.double.map { value(ofReal: $0) }
  }

  package static func value(ofJSON text: String) -> Value? {
    ISO8601Date.parse(text).map(Value.date)
  }
}

extension DateKind: RealStoredKind {
  package typealias Slot = Double

  package static var readAs: [FieldKind] { [.double] }

  package static func slot(of value: Value) -> Slot? {
    value.date.flatMap { date in
      let seconds = date.timeIntervalSinceReferenceDate
      return seconds.isFinite ? seconds : nil
    }
  }

  package static func value(of slot: Slot) -> Value { value(ofReal: slot) }

  package static func key(of value: Value) -> KeyPayload? {
    value.date.flatMap { DoubleKind.key(of: .double($0.timeIntervalSinceReferenceDate)) }
  }

  package static func value(ofKey bits: UInt64) -> Value? {
    KeyBits.double(bits).map { value(ofReal: $0) }
  }

  package static func value(ofReal number: Double) -> Value {
    .date(Date(timeIntervalSinceReferenceDate: number))
  }
}
