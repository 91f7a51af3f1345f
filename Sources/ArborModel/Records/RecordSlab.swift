/// A run of memory that many records share, so that an object costs no allocation of its own.
///
/// Records hold a strong reference to their slab and a pointer into it. Bytes that have been handed
/// out are never moved; the memory is freed when the last holder lets go, on whatever thread.
@usableFromInline
package final class RecordSlab {
  @usableFromInline package let base: UnsafeMutableRawPointer
  @usableFromInline package let capacity: Int
  @usableFromInline package internal(set) var used = 0

  fileprivate init(capacity: Int) {
    base = .allocate(byteCount: capacity, alignment: 16)
    self.capacity = capacity
  }

  deinit { base.deallocate() }
}

/// Hands out memory for records from slabs, one after another.
@usableFromInline
package final class SlabAllocator {
  /// The slab that was allocated from last: the one that keeps the latest bytes alive.
  @usableFromInline package internal(set) var slab: RecordSlab
  private let slabSize: Int

  /// Slabs of 64 KiB hold a few hundred records: large enough to be rare, small enough not to be
  /// pinned for long by one survivor.
  package init(slabSize: Int = 64 << 10) {
    self.slabSize = slabSize
    slab = RecordSlab(capacity: slabSize)
  }

  /// Takes `count` bytes, uninitialised, aligned to 8, from ``slab``, which changes where the
  /// present one is full.
  @inlinable @inline(__always)
  package func allocate(_ count: Int) -> UnsafeMutableRawPointer {
    let start = (slab.used + 7) & ~7
    guard start + count <= slab.capacity else { return allocateInNewSlab(count) }
    slab.used = start + count
    return slab.base + start
  }

  @usableFromInline @inline(never)
  func allocateInNewSlab(_ count: Int) -> UnsafeMutableRawPointer {
    // A run longer than a slab gets one of its own, and the present one goes on being filled
    // after it has been replaced only when it is nearly empty: not worth a second list.
    slab = RecordSlab(capacity: max(slabSize, count))
    slab.used = count
    return slab.base
  }
}
