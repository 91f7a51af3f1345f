import Testing
import ArborModel

@Suite struct BulkRetainTests {
  private final class Held {
    let end: () -> Void
    init(_ end: @escaping () -> Void) { self.end = end }
    deinit { end() }
  }

  @Test("Each retained reference is released by its holder", arguments: [0, 1, 2, 1000])
  func eachReferenceIsReleasedByItsHolder(count: Int) {
    var hasEnded = false
    var held: Held? = Held { hasEnded = true }
    let reference = BulkRetain.retain(held ?? Held {}, times: count)
    held = nil
    for _ in 0..<count {
      #expect(!hasEnded)
      reference.release()
    }
    #expect(hasEnded)
  }

  @Test("Retaining a new object adds one reference")
  func aNewObjectHasOneHolderMore() {
    var hasEnded = false
    var held: Held? = Held { hasEnded = true }
    let address = held.map { BulkRetain.retainNew($0) }
    held = nil
    #expect(!hasEnded)
    address.map { Unmanaged<Held>.fromOpaque($0).release() }
    #expect(hasEnded)
  }
}
