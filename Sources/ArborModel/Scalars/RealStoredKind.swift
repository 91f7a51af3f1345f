package protocol RealStoredKind: FixedStoredKind {}

extension RealStoredKind {
  package static var form: StorageForm { .real }

  package static func key(of value: Value) -> KeyPayload? {
    guard case .double(let number) = value, !number.isNaN else { return nil }
    return .number(KeyBits.of(number))
  }

  package static func value(ofKey bits: UInt64) -> Value? { KeyBits.double(bits).map(Value.double) }

  package static func value(ofReal number: Double) -> Value { .double(number) }
}
