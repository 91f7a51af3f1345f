/// The complete fixed-size values in a run of bytes, such as a cursor returns for one key.
///
/// In a forged file, a run may end within a value. Such a remainder is skipped. Values are not
/// aligned.
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
