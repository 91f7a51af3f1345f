internal import ArborLocks
internal import CLMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Which pages of a file this process has verified, and as what: one word for each page, shared by
/// all threads.
///
/// A mark is tied to the page's position in its tree and to its header, so a page that was freed
/// and written again as something else has to be verified anew.
///
/// `@unchecked Sendable`: words are loaded and stored one at a time without an order; at worst two
/// threads verify the same page.
final class PageMarks: @unchecked Sendable {
  /// The words of the pages: those of the first 4,096, then as many again, then always twice as
  /// many as before. Each is made when one of its pages gets a mark, so that a small file costs
  /// little at opening and a large one is never moved.
  private let segments: UnsafeMutablePointer<UnsafeMutablePointer<UInt32>?>
  /// By database handle: the first transaction in whose state the database had no page left to
  /// verify; 0 where there was none.
  private let settled: UnsafeMutablePointer<UInt64>

  private let completeness = Atomic(false)
  private let freeListsAreVerified = Atomic(false)

  /// The bits of the numbers of the pages of the first segment.
  private static let firstBits = 12
  /// Pages with larger numbers than those have no mark and are verified at every use.
  private static let segmentCount = 24
  /// Databases with larger handles are never settled for good.
  private static let handleCount = 1 << 10

  init() {
    // Sound: freed with the object, and so are the segments.
    segments = .allocate(capacity: Self.segmentCount)
    segments.initialize(repeating: nil, count: Self.segmentCount)
    settled = .allocate(capacity: Self.handleCount)
    settled.initialize(repeating: 0, count: Self.handleCount)
  }

  deinit {
    for segment in 0..<Self.segmentCount { free(segments[segment]) }
    segments.deallocate()
    settled.deallocate()
  }

  // MARK: Databases

  /// Whether a database has no page left to verify in a state: all pages of an earlier one were
  /// verified, and later states differ in what sound engines have written.
  @inline(__always)
  func isSettled(_ handle: UInt32, in state: UInt64) -> Bool {
    guard handle < Self.handleCount else { return false }
    let since = arbor_load_relaxed_64(settled + Int(handle))
    return since != 0 && since <= state
  }

  /// Notes that a database has no page left to verify in a state.
  func settle(_ handle: UInt32, in state: UInt64) {
    guard handle < Self.handleCount else { return }
    let since = arbor_load_relaxed_64(settled + Int(handle))
    if since == 0 || since > state { arbor_store_relaxed_64(settled + Int(handle), state) }
  }

  /// Another database may have the handle from now on.
  func unsettle(_ handle: UInt32) {
    guard handle < Self.handleCount else { return }
    arbor_store_relaxed_64(settled + Int(handle), 0)
  }

  // MARK: Pages

  @inline(__always)
  func hold(_ mark: UInt32, for page: UInt64) -> Bool {
    guard let word = word(of: page) else { return false }
    return arbor_load_relaxed(word) | Self.edges == mark | Self.edges
  }

  /// Whether a leaf carries a mark, and the ends of its keys' values are verified as well.
  @inline(__always)
  func holdEdges(_ mark: UInt32, for page: UInt64) -> Bool {
    guard let word = word(of: page) else { return false }
    return arbor_load_relaxed(word) == mark | Self.edges
  }

  /// A mark of some mixed numbers; never that of a page that was not verified.
  @inline(__always)
  static func mark(_ mixed: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: mixed) & ~edges | 1 }

  /// The part of a mark that says that the ends of the values are verified.
  static var edges: UInt32 { 2 }

  func set(_ mark: UInt32, for page: UInt64) {
    guard let word = word(of: page) ?? makeWord(of: page) else { return }
    arbor_store_relaxed(word, mark)
  }

  /// The word of a page; nil as long as its segment has no mark.
  @inline(__always)
  private func word(of page: UInt64) -> UnsafeMutablePointer<UInt32>? {
    let (segment, offset) = Self.location(of: page)
    guard segment < Self.segmentCount, let words = arbor_load_words(segments + segment) else {
      return nil
    }
    return words + offset
  }

  /// The same, where its segment may have to be made.
  private func makeWord(of page: UInt64) -> UnsafeMutablePointer<UInt32>? {
    let segment = Self.location(of: page).segment
    guard segment < Self.segmentCount else { return nil }
    let count = 1 << (Self.firstBits + max(segment - 1, 0))
    // Zeros, which the system gives for large ones without touching them.
    guard let words = calloc(count, 4)?.bindMemory(to: UInt32.self, capacity: count) else {
      return nil
    }
    if !arbor_publish_words(segments + segment, words) { free(words) }
    return word(of: page)
  }

  @inline(__always)
  private static func location(of page: UInt64) -> (segment: Int, offset: Int) {
    let bits = 64 - (page | (1 << firstBits - 1)).leadingZeroBitCount
    let segment = bits - firstBits
    let start: UInt64 = segment == 0 ? 0 : 1 << (bits - 1)
    return (segment, Int(truncatingIfNeeded: page &- start))
  }

  /// Whether every page of a state is verified, or was written by this process: later states differ
  /// in what sound engines have written.
  @inline(__always)
  var areComplete: Bool {
    get { completeness.load(ordering: .relaxed) }
    set { completeness.store(newValue, ordering: .relaxed) }
  }

  /// Whether the lists of free pages are verified; each of them is older than what is added later.
  var haveFreeLists: Bool {
    get { freeListsAreVerified.load(ordering: .relaxed) }
    set { freeListsAreVerified.store(newValue, ordering: .relaxed) }
  }

  /// Mixes bytes into a number.
  @inline(__always)
  static func mix(_ seed: UInt64, _ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var mixed = seed
    var offset = 0
    while offset &+ 8 <= bytes.count {
      mixed = mix(mixed, bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset &+= 8
    }
    var rest = UInt64(truncatingIfNeeded: bytes.count)
    while offset < bytes.count {
      rest = rest << 8 | UInt64(bytes[offset])
      offset &+= 1
    }
    return mix(mixed, rest)
  }

  /// Mixes a number into another.
  @inline(__always)
  static func mix(_ seed: UInt64, _ number: UInt64) -> UInt64 {
    let product = (seed ^ number) &* 0x9E37_79B9_7F4A_7C15
    return product ^ product >> 32
  }
}

/// Positions in trees at which only sound pages lie: those whose page the writer has verified, as
/// long as nobody else commits.
///
/// A commit writes the pages on the paths of its changes anew, up to the roots, and the next one
/// would have to verify them again, which takes most of the time of a small commit. What lies at a
/// position that was verified is that page still, or one that this process has written since: pages
/// that are split, joined, or get nodes of a neighbour are written, and one that is not written
/// keeps its keys, so it does not come to the position of another.
///
/// A table of hashes, in which a position may take the place of another. What is missing in it is
/// verified.
struct SoundPositions: ~Copyable {
  private static let bits = 12
  private let table: UnsafeMutablePointer<UInt64>

  init() {
    // Sound: freed with the value, which cannot be copied; no index is larger.
    table = .allocate(capacity: 1 << Self.bits)
    table.initialize(repeating: 0, count: 1 << Self.bits)
  }

  deinit { table.deallocate() }

  @inline(__always)
  private func entry(of position: UInt64) -> UnsafeMutablePointer<UInt64> {
    table + Int(truncatingIfNeeded: position >> UInt64(64 - Self.bits))
  }

  /// Whether a position is known: a hash of the tree, the height in it, and the least key.
  @inline(__always)
  func contains(_ position: UInt64) -> Bool { entry(of: position).pointee == position | 1 }

  /// Adds a position, whose page is verified.
  @inline(__always)
  func insert(_ position: UInt64) { entry(of: position).pointee = position | 1 }

  /// Forgets all, since somebody else has committed, or a tree is another one.
  func removeAll() { table.update(repeating: 0, count: 1 << Self.bits) }
}
