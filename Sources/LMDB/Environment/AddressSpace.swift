internal import ArborLocks

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The address space of this process, which the maps of its open files share.
///
/// A large map costs nothing but address space and never has to grow. Growing waits until no thread
/// reads. So the first files get a map of 1 TiB each. Every map takes a sixteenth of the free
/// address space at most, so that thousands of files can be open, and the rest of the program has
/// room for its memory and threads.
enum AddressSpace {
  /// The maximum size of a map that isn't larger than its file requires.
  private static let largestMap = 1 << 40
  /// The size of each map if thousands of files are open.
  private static let smallestMap = 1 << 28
  /// The maximum share of the free address space for one map.
  private static let divisor = 16
  /// The size of a map in relation to its file.
  private static let growthFactor = 8

  /// The number of bytes for maps and everything else in the process.
  private static let available = Atomic(limit)

  /// Half of the limit of the process, and at most half of what a 64-bit processor with four-level
  /// page tables provides.
  private static var limit: Int {
    var limit = rlimit()
    #if canImport(Glibc)
      let code = getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
    #else
      let code = getrlimit(RLIMIT_AS, &limit)
    #endif
    let most = 1 << 46
    return code == 0 ? min(most, Int(clamping: limit.rlim_cur) / 2) : most
  }

  /// Returns the size of the first map of a file.
  static func firstMap(ofFileOf fileSize: Int) -> Int {
    let all = available.load(ordering: .relaxed)
    let share = max(0, all - used) / divisor
    let least = min(smallestMap, all / (2 * divisor))
    return max(min(share, largestMap), least, min(fileSize, largestMap) * growthFactor)
  }

  /// Lowers the limit after the system has refused a map.
  static func noteRefused(_ size: Int) {
    let found = used + size / 2
    if found < available.load(ordering: .relaxed) { available.store(found, ordering: .relaxed) }
  }

  /// The address space that is in use, or 0 if the system doesn't report it.
  private static var used: Int {
    #if canImport(Glibc)
      let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return 0 }
      defer { close(descriptor) }
      var text = [UInt8](repeating: 0, count: 32)
      let count = read(descriptor, &text, text.count)
      guard count > 0 else { return 0 }
      let pages = Int(String(decoding: text.prefix { $0 != 0x20 }, as: UTF8.self)) ?? 0
      return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    #else
      return 0
    #endif
  }
}
