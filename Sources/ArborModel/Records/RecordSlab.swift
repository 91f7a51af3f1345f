internal import ArborLocks

/// A memory block shared by many records, so that objects need no allocations of their own.
///
/// Records hold a strong reference to their slab and a pointer into it. Allocated bytes never move.
/// The memory is freed with the last reference, on any thread.
@usableFromInline
package final class RecordSlab {
  @usableFromInline package let base: UnsafeMutableRawPointer
  @usableFromInline package let capacity: Int
  @usableFromInline package internal(set) var used = 0

  /// The initial slab of allocators. It is full, so nothing is allocated from it.
  fileprivate nonisolated(unsafe) static let full: RecordSlab = {
    let slab = RecordSlab(capacity: 0)
    slab.used = 1
    return slab
  }()

  fileprivate init(capacity: Int) {
    base = SlabMemory.take(capacity)
    self.capacity = capacity
  }

  deinit { SlabMemory.give(base, capacity) }
}

/// A pool of memory for slabs of the default size, because touching new memory for the first time
/// costs more than filling it.
private enum SlabMemory {
  static let usualSize = 64 << 10
  /// The maximum number of pooled blocks, 32 MiB in total.
  private static let maximumPooledBlocks = 512

  /// `@unchecked Sendable`: no other code has these addresses.
  private struct Blocks: @unchecked Sendable {
    var addresses: [UnsafeMutableRawPointer] = []
  }

  private static let kept = Lock(Blocks())

  static func take(_ size: Int) -> UnsafeMutableRawPointer {
    if size == usualSize, let block = kept.withLock({ $0.addresses.popLast() }) { return block }
    return .allocate(byteCount: size, alignment: 16)
  }

  static func give(_ block: UnsafeMutableRawPointer, _ size: Int) {
    if size == usualSize {
      let isKept = kept.withLock { kept in
        guard kept.addresses.count < maximumPooledBlocks else { return false }
        kept.addresses.append(block)
        return true
      }
      if isKept { return }
    }
    block.deallocate()
  }
}

/// An allocator of memory for records from successive slabs.
@usableFromInline
package final class SlabAllocator {
  /// The slab of the most recent allocation, which keeps those bytes alive.
  @usableFromInline package internal(set) var slab: RecordSlab
  private let slabSize: Int
  /// The previous slabs, or `nil` if they aren't kept.
  private var earlier: [RecordSlab]?

  /// The size of the first slab. It is sufficient for a single object, so that fetching one object
  /// pins little memory.
  private static let firstSize = 1 << 10

  /// Creates an allocator.
  ///
  /// Slabs of 64 KiB contain a few hundred records. They are large enough to be rare, and small
  /// enough that a single surviving record doesn't pin much memory. The first slabs are smaller,
  /// and none is created before the first allocation.
  ///
  /// - Parameter keepsSlabs: Whether all bytes remain valid as long as the allocator exists.
  ///   Otherwise each slab must be retained by the code that uses it.
  package init(slabSize: Int = 64 << 10, keepsSlabs: Bool = false) {
    self.slabSize = slabSize
    earlier = keepsSlabs ? [] : nil
    slab = .full
  }

  /// Allocates `count` uninitialized bytes from ``slab``, without alignment, because records are
  /// read with unaligned loads. A full slab is replaced first.
  @inlinable @inline(__always)
  package func allocate(_ count: Int) -> UnsafeMutableRawPointer {
    let start = slab.used
    guard start + count <= slab.capacity else { return allocateInNewSlab(count) }
    slab.used = start + count
    return slab.base + start
  }

  /// Frees bytes if they are the most recent allocation.
  package func takeBack(_ start: UnsafeRawPointer, _ count: Int) {
    let offset = start - UnsafeRawPointer(slab.base)
    guard offset >= 0, offset + count == slab.used else { return }
    slab.used = offset
  }

  @usableFromInline @inline(never)
  func allocateInNewSlab(_ count: Int) -> UnsafeMutableRawPointer {
    // An allocation larger than a slab gets a slab of its own. That slab replaces the current one
    // even if the current one is nearly empty, because a second list isn't worthwhile.
    let usual = slab.capacity == 0 ? Self.firstSize : slab.capacity * 8
    earlier?.append(slab)
    slab = RecordSlab(capacity: max(min(slabSize, usual), count))
    slab.used = count
    return slab.base
  }
}
