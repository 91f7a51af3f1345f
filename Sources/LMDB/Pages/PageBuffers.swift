/// The memory of a verification: one page per level of the trees on the current path, and the node
/// sizes of one page.
///
/// Bounded by the deepest path that LMDB itself can follow.
struct PageBuffers: ~Copyable {
  /// The maximum number of levels: the name tree, a database's tree, and a key's values, each at
  /// LMDB's maximum depth.
  static let maximumLevels = 3 * TreeTraversal.maximumDepth

  private let pageSize: Int
  private var pages: [UnsafeMutableRawBufferPointer] = []
  /// The size of the node that begins at an offset, indexed by half the offset. All zero between
  /// uses.
  private let nodeSizes: UnsafeMutableBufferPointer<UInt16>

  init(pageSize: Int) {
    self.pageSize = pageSize
    // Memory safety: freed with the value, which is noncopyable.
    nodeSizes = .allocate(capacity: pageSize / 2)
    nodeSizes.initialize(repeating: 0)
  }

  deinit {
    for page in pages { page.deallocate() }
    nodeSizes.deallocate()
  }

  /// Returns the memory of a level, whose contents are valid until the next page of that level.
  mutating func page(level: Int) -> UnsafeMutableRawBufferPointer {
    while pages.count <= level {
      pages.append(.allocate(byteCount: pageSize, alignment: 16))
    }
    return pages[level]
  }

  /// Returns a description of the problem if a page's nodes exceed the page or don't fill it.
  mutating func nodeComplaint(_ page: RawPage, isLeaf: Bool) -> String? {
    var summary = NodeSummary()
    return nodeComplaint(page, isLeaf: isLeaf, &summary)
  }

  /// Does the same as ``nodeComplaint(_:isLeaf:)``, and summarises the nodes.
  mutating func nodeComplaint(
    _ page: RawPage, isLeaf: Bool, _ summary: inout NodeSummary
  ) -> String? {
    let (lower, upper, size) = (page.lower, page.upper, page.size)
    guard lower >= RawPage.headerSize, lower % 2 == 0, lower <= upper, upper <= size else {
      return "its bounds are \(lower) and \(upper), outside the range \(RawPage.headerSize) to "
        + "\(size) or not in order"
    }
    // Memory safety: every offset is checked before it is read or recorded, and half of it is in
    // bounds.
    let sizes = nodeSizes.baseAddress.unsafelyUnwrapped
    for index in 0..<page.count {
      let offset = page.nodeOffset(index)
      guard offset >= upper, offset & 1 == 0, offset &+ RawPage.nodeHeaderSize <= size else {
        return forget("a node begins outside it")
      }
      // The four fields of its header, read as one word.
      let header = NodeHeader(page.word(offset))
      if index == 0 { summary.first = header }
      summary.add(header)
      let end = offset &+ RawPage.nodeHeaderSize &+ header.keySize &+ (isLeaf ? header.heldSize : 0)
      guard end <= size else { return forget("a node ends outside it") }
      sizes[offset >> 1] = UInt16(truncatingIfNeeded: (end &- offset &+ 1) & ~1)
    }
    return tile(page) ? nil : forget("its nodes overlap or leave gaps")
  }

  /// Returns whether the nodes of a page, whose sizes are recorded, fill it from its upper bound to
  /// its end without gaps or overlaps.
  private func tile(_ page: RawPage) -> Bool {
    let sizes = nodeSizes.baseAddress.unsafelyUnwrapped
    var offset = page.upper
    var met = 0
    while offset < page.size {
      let size = Int(sizes[offset >> 1])
      if size == 0 { return false }
      sizes[offset >> 1] = 0
      offset &+= size
      met &+= 1
    }
    return offset == page.size && met == page.count
  }

  /// Clears the recorded sizes and returns the complaint.
  @inline(never)
  private func forget(_ complaint: String) -> String {
    nodeSizes.update(repeating: 0)
    return complaint
  }
}
