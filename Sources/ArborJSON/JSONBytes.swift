import Foundation

/// The bytes of a document, at one place in memory for as long as anything speaks of them.
///
/// `@unchecked Sendable`: only the code that fills the bytes knows them meanwhile; after that
/// nothing writes to them.
final class JSONBytes: @unchecked Sendable {
  private let base: UnsafeMutableRawPointer
  private let capacity: Int
  private(set) var count = 0

  init(capacity: Int) {
    self.capacity = capacity
    base = .allocate(byteCount: max(1, capacity), alignment: 16)
  }

  convenience init(_ data: Data) {
    self.init(capacity: data.count)
    append(data)
  }

  deinit { base.deallocate() }

  var room: Int { capacity - count }

  /// Adds bytes, for which there must be room. Only for code that has made the object.
  func append(_ data: Data) { data.withUnsafeBytes { append($0) } }

  func append(_ bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count <= room, "More bytes than there is room for; make more room.")
    guard let start = bytes.baseAddress else { return }
    // Sound: there is room behind what has been filled, and the bytes lie elsewhere.
    (base + count).copyMemory(from: start, byteCount: bytes.count)
    count += bytes.count
  }

  /// Gives a closure the bytes, which stay where they are as long as it runs.
  @inline(__always)
  func withBuffer<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    // Sound: `count` bytes have been filled, and the object that owns them outlives the closure.
    withExtendedLifetime(self) { body(UnsafeRawBufferPointer(start: base, count: count)) }
  }
}
