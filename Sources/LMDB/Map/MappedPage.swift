/// A branch or leaf page of a tree in the map. All accesses are bounds-checked.
struct MappedPage {
  let bytes: RawPage
  /// The number of nodes: at least one in a leaf, two in a branch page.
  let count: Int
  let isLeaf: Bool

  /// Creates the page with a number. Returns `nil` if it is invalid or of another kind.
  @inline(__always)
  init?(_ tree: MappedTree, _ number: UInt64) {
    guard number < tree.pageCount else { return nil }
    bytes = tree.page(number)
    count = bytes.count
    let flags = bytes.flags
    isLeaf = flags == .leaf
    guard isLeaf || flags == .branch, bytes.lower <= bytes.size, count > (isLeaf ? 0 : 1) else {
      return nil
    }
  }

  /// Returns a node, or `nil` if its header exceeds the page.
  @inline(__always)
  private func node(_ nodeIndex: Int) -> RawNode? {
    let node = bytes.node(nodeIndex)
    return node.offset &+ RawPage.nodeHeaderSize <= bytes.size ? node : nil
  }

  /// Returns the key of a node, or `nil` if it exceeds the page.
  @inline(__always)
  func key(_ nodeIndex: Int) -> UnsafeRawBufferPointer? {
    guard let node = node(nodeIndex), node.dataOffset <= bytes.size else { return nil }
    return node.key
  }

  /// Returns the key of a node as a number, or `nil` if it exceeds the page.
  @inline(__always)
  func number(_ nodeIndex: Int) -> UInt64? {
    let key = bytes.nodeOffset(nodeIndex) &+ RawPage.nodeHeaderSize
    return key &+ 8 <= bytes.size ? bytes.word(key) : nil
  }

  /// Returns the number of the child page of a branch page's node, or `nil` if the node exceeds the
  /// page.
  @inline(__always)
  func child(_ nodeIndex: Int) -> UInt64? { node(nodeIndex)?.child }

  /// Returns the value of a leaf's node.
  @inline(__always)
  func value(_ nodeIndex: Int, in tree: MappedTree) -> MappedTree.Answer {
    guard let node = node(nodeIndex) else { return .unknown }
    if node.flags == .largeData { return largeValue(of: node, in: tree) }
    guard node.flags.isEmpty, node.dataOffset &+ node.dataSize <= bytes.size else {
      return .unknown
    }
    return .value(bytes.part(node.dataOffset, node.dataSize))
  }

  /// Returns a value that is stored in overflow pages.
  @inline(never)
  private func largeValue(of node: RawNode, in tree: MappedTree) -> MappedTree.Answer {
    guard node.dataOffset + 8 <= bytes.size else { return .unknown }
    let number = bytes.word(node.dataOffset)
    guard number < tree.pageCount else { return .unknown }
    let first = tree.page(number)
    guard first.flags == .overflow, first.runLength <= tree.pageCount - number,
      node.dataSize <= Int(first.runLength) * bytes.size - RawPage.headerSize
    else { return .unknown }
    return .value(first.part(RawPage.headerSize, node.dataSize))
  }

  /// Returns the entry of a leaf's node with an integer key, or `nil` if only the engine can read
  /// it.
  @inline(__always)
  func numberedEntry(_ nodeIndex: Int, in tree: MappedTree) -> NumberedEntry? {
    guard let key = key(nodeIndex), key.count == 8,
      case .value(let value) = value(nodeIndex, in: tree)
    else { return nil }
    return NumberedEntry(key: key.loadUnaligned(as: UInt64.self), value: value)
  }
}
