/// Whole numbers of some width in records.
package protocol WholeStoredKind: FixedStoredKind
where Slot: FixedWidthInteger & SignedInteger & BitwiseCopyable {}

extension WholeStoredKind {
  package static var form: StorageForm { .whole }

  package static func slot(of value: Value) -> Slot? {
    if case .integer(let number) = value { Slot(exactly: number) } else { nil }
  }

  package static func value(of slot: Slot) -> Value { .integer(Int64(slot)) }

  package static func key(of value: Value) -> KeyPayload? {
    if case .integer(let number) = value { .number(KeyBits.of(number)) } else { nil }
  }

  package static func value(ofKey bits: UInt64) -> Value? {
    .integer(Int64(bitPattern: bits ^ (1 << 63)))
  }

  package static func value(ofWhole number: Int64) -> Value { .integer(number) }
}
