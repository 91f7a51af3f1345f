/// An assignment of threads to the parts of a shared structure, so that threads that run at the same
/// time rarely use the same part.
package enum ThreadStripe {
  /// Returns the part of the current thread, less than `count`, which must be a power of two.
  @inline(__always)
  package static func current(of count: Int) -> Int {
    // Fibonacci hashing: threads are numbered by addresses, which differ in a few bits.
    let hash = UInt64(ThreadID.current.number) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: hash >> 40) & (count - 1)
  }
}
