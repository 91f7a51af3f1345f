internal import CArborBits

/// Counts references where that is dear because objects are many.
package enum BulkRetain {
  /// Retains an object for several holders at once: each takes one reference, which it releases.
  ///
  /// Sound as `Unmanaged.retain()` is, which it stands for `count` times over.
  package static func retain<Object: AnyObject>(
    _ object: Object, times count: Int
  ) -> Unmanaged<Object> {
    let reference = Unmanaged.passUnretained(object)
    // What a 32-bit number does not hold no slab has room for.
    if count > 0 { _ = swift_retain_n(reference.toOpaque(), UInt32(count)) }
    return reference
  }

  /// Retains an object that was made just now, so that no other thread can know of it: that needs
  /// no atomic step, which takes several times as long.
  package static func retainNew(_ object: AnyObject) -> UnsafeMutableRawPointer {
    swift_nonatomic_retain(Unmanaged.passUnretained(object).toOpaque())
  }
}
