/// The values of a fixed size that lie one after the other in a run of bytes, as a cursor gives
/// those of one key: whole ones only.
///
/// A file that somebody forged may hold a run that ends within a value; what is left of it there is
/// passed over, as in every other place where such a run is read. Values are not aligned.
struct WholeValues<Element: BitwiseCopyable>: Sequence {
  private let bytes: UnsafeRawBufferPointer

  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer, as type: Element.Type = Element.self) {
    let size = MemoryLayout<Element>.size
    self.bytes = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / size * size)])
  }

  var count: Int { bytes.count / MemoryLayout<Element>.size }

  @inline(__always) var underestimatedCount: Int { count }

  struct Iterator: IteratorProtocol {
    fileprivate let bytes: UnsafeRawBufferPointer
    fileprivate var offset = 0

    @inline(__always)
    mutating func next() -> Element? {
      guard offset < bytes.count else { return nil }
      defer { offset &+= MemoryLayout<Element>.size }
      return bytes.loadUnaligned(fromByteOffset: offset, as: Element.self)
    }
  }

  @inline(__always)
  func makeIterator() -> Iterator { Iterator(bytes: bytes) }
}

extension [UInt64] {
  /// Copies numbers as they lie on their page, all at once.
  mutating func append(_ values: WholeValues<UInt64>) { values.copy(to: &self) }
}

extension WholeValues<UInt64> {
  fileprivate func copy(to numbers: inout [UInt64]) {
    let start = numbers.count
    numbers.append(contentsOf: repeatElement(0, count: count))
    numbers.withUnsafeMutableBytes { room in
      UnsafeMutableRawBufferPointer(rebasing: room[(start * 8)...]).copyMemory(from: bytes)
    }
  }
}
