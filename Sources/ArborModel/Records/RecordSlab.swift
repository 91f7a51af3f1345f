internal import ArborLocks

/// A run of memory that many records share, so that an object costs no allocation of its own.
///
/// Records hold a strong reference to their slab and a pointer into it. Bytes that have been handed
/// out are never moved; the memory is freed when the last holder lets go, on whatever thread.
@usableFromInline
package final class RecordSlab {
  @usableFromInline package let base: UnsafeMutableRawPointer
  @usableFromInline package let capacity: Int
  @usableFromInline package internal(set) var used = 0

  /// What allocators have before something is allocated: full, so that nothing is taken from it.
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

/// The memory of slabs of the usual size that nobody holds any more, kept for the next ones: the
/// first touch of fresh memory costs more than filling it.
private enum SlabMemory {
  static let usualSize = 64 << 10
  /// 32 MiB.
  private static let mostKept = 512

  /// `@unchecked Sendable`: nobody else knows these addresses.
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
        guard kept.addresses.count < mostKept else { return false }
        kept.addresses.append(block)
        return true
      }
      if isKept { return }
    }
    block.deallocate()
  }
}

/// Hands out memory for records from slabs, one after another.
@usableFromInline
package final class SlabAllocator {
  /// The slab that was allocated from last: the one that keeps the latest bytes alive.
  @usableFromInline package internal(set) var slab: RecordSlab
  private let slabSize: Int
  /// The slabs before the present one, where they are kept.
  private var earlier: [RecordSlab]?

  /// What a single object fits into, so that a fetch of one pins no more than that.
  private static let firstSize = 1 << 10

  /// Slabs of 64 KiB hold a few hundred records: large enough to be rare, small enough not to be
  /// pinned for long by one survivor. The first ones are smaller, and none exists before
  /// something is allocated.
  ///
  /// - Parameter keepsSlabs: Whether all bytes stay as long as the allocator does; else each slab
  ///   has to be held by the code that uses it.
  package init(slabSize: Int = 64 << 10, keepsSlabs: Bool = false) {
    self.slabSize = slabSize
    earlier = keepsSlabs ? [] : nil
    slab = .full
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

  /// Gives bytes back, where they are the last that were taken.
  package func takeBack(_ start: UnsafeRawPointer, _ count: Int) {
    let offset = start - UnsafeRawPointer(slab.base)
    guard offset >= 0, offset + count == slab.used else { return }
    slab.used = offset
  }

  @usableFromInline @inline(never)
  func allocateInNewSlab(_ count: Int) -> UnsafeMutableRawPointer {
    // A run longer than a slab gets one of its own, and the present one goes on being filled
    // after it has been replaced only when it is nearly empty: not worth a second list.
    let usual = slab.capacity == 0 ? Self.firstSize : slab.capacity * 8
    earlier?.append(slab)
    slab = RecordSlab(capacity: max(min(slabSize, usual), count))
    slab.used = count
    return slab.base
  }
}
