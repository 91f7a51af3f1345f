/// The bytes of a page, or of a page within a page, read at any alignment.
///
/// ```
/// every page     number u64 · pad u16 · flags u16 · lower u16 · upper u16, or page count u32
/// branch, leaf   offsets of nodes, u16 each, up to lower; room; from upper on the nodes
/// packed leaf    keys of pad bytes each, without nodes
/// node           low u16 · high u16 · flags u16 · key size u16 · key · data
/// ```
///
/// It owns nothing and is valid as long as the underlying buffer. Callers must keep offsets in
/// bounds.
struct RawPage {
  let bytes: UnsafeRawBufferPointer

  static let headerSize = 16
  static let nodeHeaderSize = 8

  var size: Int { bytes.count }
  var number: UInt64 { word(0) }
  var flags: PageFlags { PageFlags(rawValue: half(10)) }
  /// The size of each key of a packed leaf in bytes.
  var packedKeySize: Int { Int(half(8)) }
  /// The end of the node offsets.
  var lower: Int { Int(half(12)) }
  /// The beginning of the nodes.
  var upper: Int { Int(half(14)) }
  /// The number of overflow pages of a large value.
  var runLength: UInt64 { UInt64(quad(12)) }
  /// The number of nodes or packed keys.
  var count: Int { (lower - Self.headerSize) / 2 }

  func nodeOffset(_ index: Int) -> Int { Int(half(Self.headerSize + 2 * index)) }
  func node(_ index: Int) -> RawNode { RawNode(page: self, offset: nodeOffset(index)) }

  func word(_ offset: Int) -> UInt64 { load(offset) }
  func quad(_ offset: Int) -> UInt32 { load(offset) }
  func half(_ offset: Int) -> UInt16 { load(offset) }

  @inline(__always)
  private func load<Number: FixedWidthInteger>(_ offset: Int) -> Number {
    Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self))
  }

  @inline(__always)
  func part(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes.baseAddress.map { $0 + offset }, count: count)
  }
}

/// An entry of a branch or leaf page whose offset is in bounds.
struct RawNode {
  let page: RawPage
  let offset: Int

  /// The number of the child page of an entry of a branch page.
  var child: UInt64 { UInt64(page.quad(offset)) | UInt64(page.half(offset + 4)) << 32 }
  var flags: NodeFlags { NodeFlags(rawValue: page.half(offset + 4)) }
  var keySize: Int { Int(page.half(offset + 6)) }
  var dataSize: Int { Int(page.quad(offset)) }
  var key: UnsafeRawBufferPointer { page.part(offset + RawPage.nodeHeaderSize, keySize) }
  /// The offset of the data in the page.
  var dataOffset: Int { offset + RawPage.nodeHeaderSize + keySize }
  /// The size of the data in the page itself.
  var heldSize: Int { flags.contains(.largeData) ? 8 : dataSize }
  var data: RawPage { RawPage(bytes: page.part(dataOffset, heldSize)) }
}

/// The four fields before a node's key, as one word.
struct NodeHeader {
  fileprivate let bits: UInt64

  init(_ bits: UInt64) { self.bits = bits }

  var dataSize: Int { Int(truncatingIfNeeded: bits & NodeSummary.dataBits) }
  var flags: NodeFlags { NodeFlags(rawValue: UInt16(truncatingIfNeeded: bits >> 32)) }
  var keySize: Int { Int(truncatingIfNeeded: bits >> 48) }
  var heldSize: Int { flags.contains(.largeData) ? 8 : dataSize }
}

/// The properties that the nodes of a page share, according to their headers.
struct NodeSummary {
  /// The header of the first node.
  var first = NodeHeader(0)
  /// The bits in which other headers differ from the first.
  private var differences: UInt64 = 0
  /// The bits that are set in at least one header.
  private var union: UInt64 = 0
  /// A number that is negative if any key is empty.
  private var emptyKeys = 0

  fileprivate static var dataBits: UInt64 { 0xFFFF_FFFF }

  @inline(__always)
  mutating func add(_ header: NodeHeader) {
    differences |= header.bits ^ first.bits
    union |= header.bits
    emptyKeys |= header.keySize &- 1
  }

  var haveNoFlags: Bool { NodeHeader(union).flags.isEmpty }
  var haveOneKeySize: Bool { NodeHeader(differences).keySize == 0 }
  var haveOneDataSize: Bool { NodeHeader(differences).dataSize == 0 }

  /// Returns whether every key has 1 to `most` bytes, which must be one less than a power of two.
  func haveKeys(upTo most: Int) -> Bool { emptyKeys >= 0 && NodeHeader(union).keySize <= most }

  /// Returns whether all data have at most `most` bytes, which must be one less than a power of
  /// two.
  func haveData(upTo most: Int) -> Bool { NodeHeader(union).dataSize <= most }
}

/// The kind of a page.
struct PageFlags: OptionSet {
  let rawValue: UInt16

  static let branch = PageFlags(rawValue: 0x01)
  static let leaf = PageFlags(rawValue: 0x02)
  static let overflow = PageFlags(rawValue: 0x04)
  static let meta = PageFlags(rawValue: 0x08)
  /// Set on disk only in pages within pages.
  static let dirty = PageFlags(rawValue: 0x10)
  static let packed = PageFlags(rawValue: 0x20)
  static let inner = PageFlags(rawValue: 0x40)
}

/// The kind of a leaf's entry.
struct NodeFlags: OptionSet {
  let rawValue: UInt16

  /// The data is the number of the value's first overflow page.
  static let largeData = NodeFlags(rawValue: 0x01)
  /// The data is the record of a tree.
  static let tree = NodeFlags(rawValue: 0x02)
  /// The entry has several values: in a page within the page or, combined with `tree`, in a tree.
  static let values = NodeFlags(rawValue: 0x04)
}

/// The record of a tree in the file, 48 bytes.
struct TreeRecord: Equatable {
  static let size = 48
  static let noPage = UInt64.max

  /// The size of each key in packed leaves. In the free database, the page size.
  let pad: UInt32
  let flags: DatabaseFlags
  let depth: Int
  let branchPages: UInt64
  let leafPages: UInt64
  let overflowPages: UInt64
  let entries: UInt64
  let root: UInt64

  init(_ page: RawPage, at offset: Int = 0) {
    pad = page.quad(offset)
    flags = DatabaseFlags(rawValue: UInt32(page.half(offset + 4)))
    depth = Int(page.half(offset + 6))
    branchPages = page.word(offset + 8)
    leafPages = page.word(offset + 16)
    overflowPages = page.word(offset + 24)
    entries = page.word(offset + 32)
    root = page.word(offset + 40)
  }

  /// Creates the record of values that are stored in a page within a page.
  init(flags: DatabaseFlags, pad: UInt32) {
    self.pad = pad
    self.flags = flags
    depth = 1
    (branchPages, leafPages, overflowPages, entries) = (0, 1, 0, 0)
    root = Self.noPage
  }

  /// Creates the record of a tree of which only the root and the depth are known.
  init(root: UInt64, depth: Int) {
    (pad, flags) = (0, [])
    self.depth = depth
    (branchPages, leafPages, overflowPages, entries) = (0, 0, 0, 0)
    self.root = root
  }

  var isEmpty: Bool { root == Self.noPage }

  /// The estimated number of pages of the tree, including nested trees, whose pages are not
  /// counted.
  var likelyPages: Int {
    let inner = flags.contains(.duplicates) ? entries / 256 : 0
    return Int(clamping: branchPages &+ leafPages &+ overflowPages &+ inner)
  }
}
