/// What a history of commits comes to: two that differ anywhere have different ones.
///
/// It guards against accidents, such as a server that lost its newest entries, and not against
/// forgery.
public struct LogDigest: Sendable, Hashable {
  /// The number of bytes.
  public static let size = 16

  package let bits: UInt128

  package init(bits: UInt128) { self.bits = bits }

  /// Reads what ``bytes`` gave.
  ///
  /// - Returns: nil for another number of bytes than ``size``.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.size else { return nil }
    bits = bytes.reversed().reduce(0) { $0 << 8 | UInt128($1) }
  }

  /// The digest as ``size`` bytes, the lowest first.
  public var bytes: [UInt8] { (0..<Self.size).map { UInt8(truncatingIfNeeded: bits >> ($0 * 8)) } }
}
