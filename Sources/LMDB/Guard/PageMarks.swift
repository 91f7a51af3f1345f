internal import ArborLocks
internal import CLMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The verified pages of a file, as one word per page that is shared by all threads.
///
/// A mark depends on the page's position in its tree and on its header, so a page that was freed
/// and reused for something else has to be verified again.
///
/// `@unchecked Sendable`: words are loaded and stored individually without ordering. At worst, two
/// threads verify the same page.
final class PageMarks: @unchecked Sendable {
  /// The words of the pages in segments: 4,096 in each of the first two, then twice as many as in
  /// the previous one. A segment is allocated when one of its pages is marked, so that opening a
  /// small file is cheap and a large table never moves.
  private let segments: UnsafeMutablePointer<UnsafeMutablePointer<UInt32>?>
  /// The number of the first transaction in whose state a database had no page left to verify, or
  /// 0, by handle.
  private let settled: UnsafeMutablePointer<UInt64>

  private let completeness = Atomic(false)
  private let freeListsAreVerified = Atomic(false)

  /// The number of bits of page numbers in the first segment.
  private static let firstBits = 12
  /// The number of segments. Pages with numbers beyond them have no mark and are verified at every
  /// use.
  private static let segmentCount = 24
  /// The number of handles to record. Databases with larger handles are never recorded as settled.
  private static let handleCount = 1 << 10

  init() {
    // Memory safety: freed with the object, as are the segments.
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

  /// Returns whether a database has no page left to verify in a state. All pages of an earlier
  /// state were verified, and later states differ only in pages that intact engines have written.
  @inline(__always)
  func isSettled(_ handle: UInt32, in state: UInt64) -> Bool {
    guard handle < Self.handleCount else { return false }
    let since = arbor_load_relaxed_64(settled + Int(handle))
    return since != 0 && since <= state
  }

  /// Records that a database has no page left to verify in a state.
  func settle(_ handle: UInt32, in state: UInt64) {
    guard handle < Self.handleCount else { return }
    let since = arbor_load_relaxed_64(settled + Int(handle))
    if since == 0 || since > state { arbor_store_relaxed_64(settled + Int(handle), state) }
  }

  /// Discards the status of a handle, which may be reused for another database.
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

  /// Returns whether a leaf has a mark and the ends of its keys' values are verified as well.
  @inline(__always)
  func holdEdges(_ mark: UInt32, for page: UInt64) -> Bool {
    guard let word = word(of: page) else { return false }
    return arbor_load_relaxed(word) == mark | Self.edges
  }

  /// Returns the mark for a hash. It never equals that of an unverified page.
  @inline(__always)
  static func mark(_ mixed: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: mixed) & ~edges | 1 }

  /// The bit of a mark that indicates that the ends of the values are verified.
  static var edges: UInt32 { 2 }

  func set(_ mark: UInt32, for page: UInt64) {
    guard let word = word(of: page) ?? makeWord(of: page) else { return }
    arbor_store_relaxed(word, mark)
  }

  /// Returns the word of a page, or `nil` if its segment has no marks.
  @inline(__always)
  private func word(of page: UInt64) -> UnsafeMutablePointer<UInt32>? {
    let (segment, offset) = Self.location(of: page)
    guard segment < Self.segmentCount, let words = arbor_load_words(segments + segment) else {
      return nil
    }
    return words + offset
  }

  /// Returns the word of a page, allocating its segment if necessary. Returns `nil` if the page is
  /// beyond all segments or there is no memory.
  private func makeWord(of page: UInt64) -> UnsafeMutablePointer<UInt32>? {
    let segment = Self.location(of: page).segment
    guard segment < Self.segmentCount else { return nil }
    let count = 1 << (Self.firstBits + max(segment - 1, 0))
    // For large segments, the system provides zeroed pages without touching them.
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

  /// A Boolean value that indicates whether every page of a state is verified or was written by
  /// this process. Later states differ only in pages that intact engines have written.
  @inline(__always)
  var areComplete: Bool {
    get { completeness.load(ordering: .relaxed) }
    set { completeness.store(newValue, ordering: .relaxed) }
  }

  /// A Boolean value that indicates whether the free lists are verified. Lists added later need no
  /// verification.
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

/// The positions in trees that contain only intact pages: those whose page the writer has verified,
/// as long as no other process commits.
///
/// A commit rewrites the pages on the paths of its changes, up to the roots. Verifying them again
/// would take most of the time of the next small commit. A page at a verified position is either
/// the same page or one that this process has written since: pages that are split, merged or
/// receive nodes of a sibling are rewritten, and a page that is not rewritten keeps its keys, so it
/// cannot move to the position of another.
///
/// A hash table in which a position may replace another. Missing positions are verified.
struct SoundPositions: ~Copyable {
  private static let bits = 12
  private let table: UnsafeMutablePointer<UInt64>

  init() {
    // Memory safety: freed with the value, which is noncopyable. No index is larger.
    table = .allocate(capacity: 1 << Self.bits)
    table.initialize(repeating: 0, count: 1 << Self.bits)
  }

  deinit { table.deallocate() }

  @inline(__always)
  private func entry(of position: UInt64) -> UnsafeMutablePointer<UInt64> {
    table + Int(truncatingIfNeeded: position >> UInt64(64 - Self.bits))
  }

  /// Returns whether a position, which is a hash of the tree, the page's height in the tree, and
  /// its least key, is known.
  @inline(__always)
  func contains(_ position: UInt64) -> Bool { entry(of: position).pointee == position | 1 }

  /// Adds the position of a verified page.
  @inline(__always)
  func insert(_ position: UInt64) { entry(of: position).pointee = position | 1 }

  /// Removes all positions, because another process has committed or a tree has changed.
  func removeAll() { table.update(repeating: 0, count: 1 << Self.bits) }
}
