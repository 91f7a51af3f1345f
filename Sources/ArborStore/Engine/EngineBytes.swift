/// What a key or a value is given as: bytes, or a number in the machine's order.
package protocol EngineBytes {
  /// Lends the bytes, for the call only.
  func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R
}

extension UnsafeRawBufferPointer: EngineBytes {
  @inline(__always)
  package func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(self)
  }
}

extension [UInt8]: EngineBytes {
  @inline(__always)
  package func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try withUnsafeBufferPointer { (bytes) throws(E) -> R in
      try body(UnsafeRawBufferPointer(bytes))
    }
  }
}

extension EngineBytes where Self: BitwiseCopyable {
  @inline(__always)
  package func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    // Sound: the bytes are this frame's own and are lent for the call only.
    try withUnsafeBytes(of: self) { (bytes) throws(E) -> R in try body(bytes) }
  }
}

extension UInt64: EngineBytes {}
