/// How much a JSON document may ask of the reader before it is refused.
public struct JSONLimits: Sendable, Hashable {
  /// The greatest size of a document in bytes: 256 MiB. Of documents that are read item by item,
  /// which may have any size, that of one item: an element of a list, or a line.
  public var maximumSize = 256 << 20
  /// How many values and keys may stand in what is read at once: 134 million, which take 1.6 GB.
  /// Only fewer can be asked for: their indexes are kept in 27 bits.
  package var maximumCount = JSONTape.maximumCount
  /// How deep lists and objects may nest: 128 levels.
  public var maximumDepth = 128

  /// The default limits.
  public init() {}

  /// Offsets in a document are kept in 32 bits, whatever a caller allows.
  var size: Int { min(maximumSize, Int(UInt32.max) - 1) }
}
