import TestLength
import Testing
import ArborModel

@Suite struct RecordSlabTests {
  @Test("Allocations never overlap", arguments: [1, 2, 3] as [UInt64])
  func runsNeverOverlap(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let allocators = [SlabAllocator(), SlabAllocator(), SlabAllocator(slabSize: 4 << 10)]
    var runs: [(bytes: UnsafeMutableRawBufferPointer, mark: UInt8, slab: RecordSlab)] = []
    for step in 0..<1000 {
      let allocator = allocators[Int.random(in: 0..<3, using: &random)]
      let most = step % 100 == 0 ? 70_000 : 300
      let count = Int.random(in: 0...most, using: &random)
      let bytes = UnsafeMutableRawBufferPointer(start: allocator.allocate(count), count: count)
      let mark = UInt8.random(in: 0...255, using: &random)
      bytes.initializeMemory(as: UInt8.self, repeating: mark)
      runs.append((bytes, mark, allocator.slab))
      // Some are released, so that their memory is reused.
      if step % 7 == 0 { runs.swapAt(runs.count - 1, Int.random(in: runs.indices, using: &random)) }
      if step % 3 == 0 { runs.removeLast() }
    }
    for run in runs {
      #expect(run.bytes.allSatisfy { $0 == run.mark })
    }
  }

  @Test("Allocators share an empty slab until their first allocation")
  func anAllocatorHasNoMemoryAtFirst() {
    let (one, other) = (SlabAllocator(), SlabAllocator())
    #expect(one.slab === other.slab)
    #expect(one.slab.capacity == 0)
    _ = one.allocate(0)
    #expect(one.slab !== other.slab)
  }

  @Test("Only the most recent allocation can be returned, and its memory is used for the next one")
  func theLastBytesAreGivenBack() {
    let allocator = SlabAllocator()
    let first = allocator.allocate(40)
    let second = allocator.allocate(24)
    allocator.takeBack(first, 40)
    #expect(allocator.allocate(8) != first)
    let last = allocator.allocate(16)
    allocator.takeBack(last, 16)
    #expect(allocator.allocate(16) == last)
    #expect(second != last)
  }

  @Test("An allocator with `keepsSlabs` retains slabs that are otherwise unreferenced")
  func slabsAreKept() {
    let allocator = SlabAllocator(slabSize: 4 << 10, keepsSlabs: true)
    weak var first: RecordSlab?
    _ = allocator.allocate(100)
    first = allocator.slab
    for _ in 0..<100 { _ = allocator.allocate(1000) }
    #expect(first != nil && first !== allocator.slab)
  }
}
