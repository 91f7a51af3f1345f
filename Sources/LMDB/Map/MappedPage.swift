/// A branch or a leaf of a tree in the map. Whatever is read of it is checked to lie inside.
struct MappedPage {
  let bytes: RawPage
  /// The number of nodes: at least one in a leaf, two in a branch.
  let count: Int
  let isLeaf: Bool

  /// The page of a number; nil where it is not one, or none of these.
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

  /// A node whose header lies in the page.
  @inline(__always)
  private func node(_ nodeIndex: Int) -> RawNode? {
    let node = bytes.node(nodeIndex)
    return node.offset &+ RawPage.nodeHeaderSize <= bytes.size ? node : nil
  }

  /// The key of a node; nil where it does not lie in the page.
  @inline(__always)
  func key(_ nodeIndex: Int) -> UnsafeRawBufferPointer? {
    guard let node = node(nodeIndex), node.dataOffset <= bytes.size else { return nil }
    return node.key
  }

  /// The key of a node as a number; nil where it does not lie in the page.
  @inline(__always)
  func number(_ nodeIndex: Int) -> UInt64? {
    let key = bytes.nodeOffset(nodeIndex) &+ RawPage.nodeHeaderSize
    return key &+ 8 <= bytes.size ? bytes.word(key) : nil
  }

  /// The page that a node of a branch leads to.
  @inline(__always)
  func child(_ nodeIndex: Int) -> UInt64? { node(nodeIndex)?.child }

  /// The value of a leaf's node.
  @inline(__always)
  func value(_ nodeIndex: Int, in tree: MappedTree) -> MappedTree.Answer {
    guard let node = node(nodeIndex) else { return .unknown }
    if node.flags == .largeData { return largeValue(of: node, in: tree) }
    guard node.flags.isEmpty, node.dataOffset &+ node.dataSize <= bytes.size else {
      return .unknown
    }
    return .value(bytes.part(node.dataOffset, node.dataSize))
  }

  /// A value that lies in pages of its own.
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

  /// The entry of a leaf's node with a number for its key; nil where only the engine can tell.
  @inline(__always)
  func numberedEntry(_ nodeIndex: Int, in tree: MappedTree) -> NumberedEntry? {
    guard let key = key(nodeIndex), key.count == 8,
      case .value(let value) = value(nodeIndex, in: tree)
    else { return nil }
    return NumberedEntry(key: key.loadUnaligned(as: UInt64.self), value: value)
  }
}
