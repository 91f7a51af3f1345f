/// The memory of a verification: one page for each level of the trees on the present path, and the
/// sizes of the nodes of one page.
///
/// Bounded by the deepest path that LMDB itself can follow.
struct PageBuffers: ~Copyable {
  /// The main tree, a database's tree, and a key's values, each as deep as LMDB follows.
  static let mostLevels = 3 * TreeWalk.mostLevels

  private let pageSize: Int
  private var pages: [UnsafeMutableRawBufferPointer] = []
  /// By half the offset: the size of the node that begins there. Zeros between two uses.
  private let nodeSizes: UnsafeMutableBufferPointer<UInt16>

  init(pageSize: Int) {
    self.pageSize = pageSize
    // Sound: freed with the value, which can not be copied.
    nodeSizes = .allocate(capacity: pageSize / 2)
    nodeSizes.initialize(repeating: 0)
  }

  deinit {
    for page in pages { page.deallocate() }
    nodeSizes.deallocate()
  }

  /// The memory of a level, whose contents last until the next page of that level.
  mutating func page(level: Int) -> UnsafeMutableRawBufferPointer {
    while pages.count <= level {
      pages.append(.allocate(byteCount: pageSize, alignment: 16))
    }
    return pages[level]
  }

  /// What is wrong with the nodes of a page: they have to be inside the page and fill it.
  mutating func nodeComplaint(_ page: RawPage, isLeaf: Bool) -> String? {
    let (lower, upper) = (page.lower, page.upper)
    guard lower >= RawPage.headerSize, lower % 2 == 0, lower <= upper, upper <= page.size else {
      return "its bounds are \(lower) and \(upper)"
    }
    for index in 0..<page.count {
      let offset = page.nodeOffset(index)
      guard offset >= upper, offset % 2 == 0, offset + RawPage.nodeHeaderSize <= page.size else {
        return "a node begins outside of it"
      }
      let node = page.node(index)
      let end = node.dataOffset + (isLeaf ? node.heldSize : 0)
      guard end <= page.size else { return "a node ends outside of it" }
    }
    return tile(page, isLeaf: isLeaf) ? nil : "its nodes overlap or leave gaps"
  }

  /// Whether the nodes of a page lie side by side from its upper bound to its end, without gap or
  /// overlap. The nodes must lie inside, at even offsets.
  mutating func tile(_ page: RawPage, isLeaf: Bool) -> Bool {
    let count = page.count
    for index in 0..<count {
      let node = page.node(index)
      let size = RawPage.nodeHeaderSize + node.keySize + (isLeaf ? node.heldSize : 0)
      nodeSizes[node.offset / 2] = UInt16(truncatingIfNeeded: (size + 1) & ~1)
    }
    var offset = page.upper
    var met = 0
    while offset < page.size {
      let size = Int(nodeSizes[offset / 2])
      if size == 0 { break }
      nodeSizes[offset / 2] = 0
      offset += size
      met += 1
    }
    if offset == page.size, met == count { return true }
    nodeSizes.update(repeating: 0)
    return false
  }
}
