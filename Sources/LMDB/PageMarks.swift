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
/// A mark is tied to the page's place in its tree and to its header, so a page that was freed and
/// written again as something else has to be verified anew.
///
/// `@unchecked Sendable`: words are loaded and stored one at a time without an order; at worst two
/// threads verify the same page.
final class PageMarks: @unchecked Sendable {
  private let words: UnsafeMutablePointer<UInt32>?
  /// Pages from here on have no mark and are verified at every use.
  private let count: UInt64

  private let completeness = Atomic(false)
  private let freeListsAreVerified = Atomic(false)

  /// Enough for four gigabytes of pages of 4 KiB, for files whose map begins small and grows.
  private static let leastCount = 1 << 20

  /// Reserves address space; memory is taken for the pages that are used.
  init(mapSize: Int, pageSize: Int) {
    var count = max(mapSize / pageSize, Self.leastCount)
    var memory: UnsafeMutableRawPointer?
    while count >= Self.leastCount {
      let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
      let mapped = mmap(nil, count * 4, PROT_READ | PROT_WRITE, flags, -1, 0)
      if let mapped, mapped != MAP_FAILED {
        memory = mapped
        break
      }
      count /= 2
    }
    words = memory?.bindMemory(to: UInt32.self, capacity: count)
    self.count = words == nil ? 0 : UInt64(count)
  }

  deinit { if let words { munmap(words, Int(count) * 4) } }

  /// Whether a page carries a mark.
  @inline(__always)
  func hold(_ mark: UInt32, for page: UInt64) -> Bool {
    guard page < count, let words else { return false }
    return arbor_load_relaxed(words + Int(page)) | Self.edges == mark | Self.edges
  }

  /// Whether a leaf carries a mark, and the ends of its keys' values are verified as well.
  @inline(__always)
  func holdEdges(_ mark: UInt32, for page: UInt64) -> Bool {
    guard page < count, let words else { return false }
    return arbor_load_relaxed(words + Int(page)) == mark | Self.edges
  }

  /// A mark of some mixed numbers; never that of a page that was not verified.
  @inline(__always)
  static func mark(_ mixed: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: mixed) & ~edges | 1 }

  /// The part of a mark that says that the ends of the values are verified.
  static var edges: UInt32 { 2 }

  /// Gives a page a mark.
  func set(_ mark: UInt32, for page: UInt64) {
    guard page < count, let words else { return }
    arbor_store_relaxed(words + Int(page), mark)
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
