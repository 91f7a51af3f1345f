/// A branch or a leaf of a tree in the map. Whatever is read of it is checked to lie inside.
struct MappedPage {
  let start: UnsafeRawPointer
  let size: Int
  /// The number of nodes: at least one in a leaf, two in a branch.
  let count: Int
  let isLeaf: Bool

  /// The page of a number; nil where it is not one, or none of these.
  @inline(__always)
  init?(_ tree: MappedTree, _ number: UInt64) {
    guard number < tree.pageCount else { return nil }
    start = tree.pages + Int(number) &* tree.pageSize
    size = tree.pageSize
    let flags = PageFlags(rawValue: Self.load(start, 10))
    let lower = Int(Self.load(start, 12) as UInt16)
    count = (lower &- RawPage.headerSize) >> 1
    isLeaf = flags == .leaf
    guard isLeaf || flags == .branch, lower <= size, count > (isLeaf ? 0 : 1) else { return nil }
  }

  /// The key of a node; nil where it does not lie in the page.
  @inline(__always)
  func key(_ place: Int) -> UnsafeRawBufferPointer? {
    let node = offset(place)
    guard node <= size &- RawPage.nodeHeaderSize else { return nil }
    let keySize = Int(Self.load(start, node &+ 6) as UInt16)
    guard node &+ RawPage.nodeHeaderSize &+ keySize <= size else { return nil }
    return UnsafeRawBufferPointer(start: start + (node &+ RawPage.nodeHeaderSize), count: keySize)
  }

  /// The key of a node as a number; nil where it does not lie in the page.
  @inline(__always)
  func number(_ place: Int) -> UInt64? {
    let node = offset(place)
    guard node <= size &- RawPage.nodeHeaderSize &- 8 else { return nil }
    return Self.load(start, node &+ RawPage.nodeHeaderSize)
  }

  /// The page that a node of a branch, whose key has been read, leads to.
  @inline(__always)
  func child(_ place: Int) -> UInt64? {
    let node = offset(place)
    guard node <= size &- RawPage.nodeHeaderSize else { return nil }
    let low = UInt64(Self.load(start, node) as UInt32)
    return low | UInt64(Self.load(start, node &+ 4) as UInt16) << 32
  }

  /// The value of a leaf's node.
  @inline(__always)
  func value(_ place: Int, in tree: MappedTree) -> MappedTree.Answer {
    let node = offset(place)
    guard node <= size &- RawPage.nodeHeaderSize else { return .unknown }
    let count = Int(Self.load(start, node) as UInt32)
    let flags = NodeFlags(rawValue: Self.load(start, node &+ 4))
    let data = node &+ RawPage.nodeHeaderSize &+ Int(Self.load(start, node &+ 6) as UInt16)
    if flags == .largeData { return largeValue(count, named: data, in: tree) }
    guard flags.isEmpty, data &+ count <= size else { return .unknown }
    return .value(UnsafeRawBufferPointer(start: start + data, count: count))
  }

  /// A value that lies in pages of its own.
  @inline(never)
  private func largeValue(_ count: Int, named offset: Int, in tree: MappedTree) -> MappedTree.Answer
  {
    guard offset <= size &- 8 else { return .unknown }
    let number: UInt64 = Self.load(start, offset)
    guard number < tree.pageCount else { return .unknown }
    let first = tree.pages + Int(number) &* size
    let length = UInt64(Self.load(first, 12) as UInt32)
    guard PageFlags(rawValue: Self.load(first, 10)) == .overflow,
      length <= tree.pageCount &- number, count <= Int(length) &* size &- RawPage.headerSize
    else { return .unknown }
    return .value(UnsafeRawBufferPointer(start: first + RawPage.headerSize, count: count))
  }

  /// The entry of a leaf's node with a number for its key; nil where only the engine can tell.
  @inline(__always)
  func numberedEntry(_ place: Int, in tree: MappedTree) -> NumberedEntry? {
    guard let key = key(place), key.count == 8, case .value(let value) = value(place, in: tree)
    else { return nil }
    return NumberedEntry(key: key.loadUnaligned(as: UInt64.self), value: value)
  }

  /// Where a node lies, as the page says.
  @inline(__always)
  private func offset(_ place: Int) -> Int {
    Int(Self.load(start, RawPage.headerSize &+ 2 &* place) as UInt16)
  }

  @inline(__always)
  private static func load<Number: FixedWidthInteger>(
    _ start: UnsafeRawPointer, _ offset: Int
  ) -> Number {
    Number(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: Number.self))
  }
}
