import ArborFoundation

/// The bytes of a document, at a fixed address for as long as they are referenced.
///
/// `@unchecked Sendable`: The buffer is filled before it is shared, and never written to
/// afterwards.
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

  /// Appends bytes, which must fit into the remaining capacity. Must only be called before the
  /// buffer is shared.
  func append(_ data: Data) { data.withUnsafeBytes { append($0) } }

  func append(_ bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count <= room, "The bytes exceed the remaining capacity. Allocate more.")
    guard let start = bytes.baseAddress else { return }
    // Sound: the free space follows the filled bytes, and the source doesn't overlap it.
    (base + count).copyMemory(from: start, byteCount: bytes.count)
    count += bytes.count
  }

  /// Calls a closure with the bytes, which stay valid until it returns.
  @inline(__always)
  func withBuffer<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    // Sound: `count` bytes are initialized, and the object that owns them outlives the closure.
    withExtendedLifetime(self) { body(UnsafeRawBufferPointer(start: base, count: count)) }
  }
}
