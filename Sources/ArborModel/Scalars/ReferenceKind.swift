/// To-one relationships: their target's object number.
package enum ReferenceKind: FixedStoredKind {
  package typealias Slot = Int64

  package static var field: FieldKind { .reference }
  package static var form: StorageForm { .reference }
  package static var valueKind: ValueKind { .object }

  package static func slot(of value: Value) -> Slot? {
    if case .integer(let number) = value { number } else { nil }
  }

  package static func value(of slot: Slot) -> Value { .integer(slot) }

  package static func key(of value: Value) -> KeyPayload? {
    if case .integer(let number) = value { .number(UInt64(bitPattern: number)) } else { nil }
  }

  package static func value(ofKey bits: UInt64) -> Value? { .integer(Int64(bitPattern: bits)) }
}
