internal import CArborBits

/// Reference counting optimized for large numbers of objects.
package enum BulkRetain {
  /// Retains an object for several owners at once, each of which must release one reference.
  ///
  /// Memory safety: equivalent to `count` calls of `Unmanaged.retain()`. Releasing fewer references
  /// leaks the object; releasing more frees it too early.
  package static func retain<Object: AnyObject>(
    _ object: Object, times count: Int
  ) -> Unmanaged<Object> {
    let reference = Unmanaged.passUnretained(object)
    // A slab never has room for more objects than fit into 32 bits.
    if count > 0 { _ = swift_retain_n(reference.toOpaque(), UInt32(count)) }
    return reference
  }

  /// Retains a newly created object that no other thread can access yet, without an atomic
  /// operation, which is several times slower.
  package static func retainNew(_ object: AnyObject) -> UnsafeMutableRawPointer {
    swift_nonatomic_retain(Unmanaged.passUnretained(object).toOpaque())
  }
}
