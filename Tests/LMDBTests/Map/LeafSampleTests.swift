import Testing

@testable import LMDB

/// Damaged trees, which must not be followed endlessly or outside of the file.
@Suite struct LeafSampleTests {
  private static let size = 4096

  /// Returns a branch page whose nodes refer to the given pages.
  private func branch(_ children: [UInt16]) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.size)
    func put(_ value: Int, at offset: Int) {
      bytes[offset] = UInt8(value & 255)
      bytes[offset + 1] = UInt8(value >> 8)
    }
    put(1, at: 10)
    put(16 + 2 * children.count, at: 12)
    put(Self.size - 8 * children.count, at: 14)
    for (index, child) in children.enumerated() {
      let offset = Self.size - 8 * (index + 1)
      put(offset, at: 16 + 2 * index)
      put(Int(child), at: offset)
    }
    return bytes
  }

  private func sample(_ pages: [[UInt8]], leafPages: Int) -> LeafSample? {
    let bytes = Array(pages.joined())
    return bytes.withUnsafeBytes { bytes in
      MappedTree(pages: bytes, pageSize: Self.size, root: 0).flatMap {
        LeafSample(of: $0, leafPages: leafPages, limit: 256)
      }
    }
  }

  @Test("Pages that form a cycle have no sample", arguments: [1, 100_000])
  func circlesEnd(leafPages: Int) {
    #expect(sample([branch([0, 0])], leafPages: leafPages) == nil)
    #expect(sample([branch([1, 1]), branch([0, 0])], leafPages: leafPages) == nil)
  }

  @Test("Page numbers outside of the file are not followed", arguments: [1, 100_000])
  func pagesOutsideAreNotRead(leafPages: Int) {
    #expect(sample([branch([7, 9])], leafPages: leafPages) == nil)
    #expect(sample([[UInt8](repeating: 0, count: Self.size)], leafPages: leafPages) == nil)
    #expect(sample([[UInt8](repeating: 0xFF, count: Self.size)], leafPages: leafPages) == nil)
  }
}
