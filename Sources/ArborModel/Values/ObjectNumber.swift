/// The key of a record: a 16-bit entity number followed by a 48-bit sequence number.
///
/// ```
///  63            48 47                                             0
/// ┌────────────────┬────────────────────────────────────────────────┐
/// │ entity number  │ sequence, from 1                               │
/// └────────────────┴────────────────────────────────────────────────┘
/// ```
///
/// It is valid only within its store; ``ObjectID`` is the external form.
@usableFromInline
package struct ObjectNumber: Sendable, Hashable, Comparable, RawRepresentable {
  @usableFromInline package let rawValue: UInt64

  package static let maximumSequence = ObjectID.maximumNumber

  @inlinable package init(rawValue: UInt64) { self.rawValue = rawValue }

  @inlinable package init(entity: UInt16, sequence: UInt64) {
    rawValue = UInt64(entity) << 48 | sequence
  }

  @inlinable package var entity: UInt16 { UInt16(truncatingIfNeeded: rawValue >> 48) }
  @inlinable package var sequence: UInt64 { rawValue & ((1 << 48) - 1) }

  @inlinable package static func < (left: Self, right: Self) -> Bool {
    left.rawValue < right.rawValue
  }
}
