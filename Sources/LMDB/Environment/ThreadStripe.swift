/// An assignment of threads to the parts of a shared structure, so that threads that run at the same
/// time rarely use the same part.
package enum ThreadStripe {
  /// Returns the part of the current thread, less than `count`, which must be a power of two.
  @inline(__always)
  package static func current(of count: Int) -> Int { ThreadID.current.stripe(of: count) }
}

extension ThreadID {
  /// Returns the part of a structure that the thread uses; see ``ThreadStripe``.
  @inline(__always)
  func stripe(of count: Int) -> Int {
    Int(truncatingIfNeeded: (UInt64(number) &* 0x9E37_79B9_7F4A_7C15) >> 40) & (count - 1)
  }
}
