internal import ArborLocks

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A new file under a temporary name beside the place it will take: `NAME.new-1A2B3C4D`, perhaps
/// with a lock file `NAME.new-1A2B3C4D-lock`.
///
/// As long as this value lives, its descriptor holds a shared lock, which the system drops when the
/// process dies. So a file that can be locked exclusively is one that nobody works on any more, and
/// no clock is asked: a maker who lost its file in the moment between making and locking it notices
/// that the name leads elsewhere, and takes another name.
///
/// It is another kind of lock than the `flock` of stores: a look at a file that becomes a store in
/// the same moment must not turn away code that opens that store.
package struct UnfinishedFile: ~Copyable {
  /// The temporary name.
  package let path: String
  private let descriptor: Int32

  /// The paths of those that live.
  private static let ofThisProcess = Lock<Set<String>>([])

  deinit {
    Self.ofThisProcess.withLock { _ = $0.remove(path) }
    close(descriptor)
  }

  /// Makes an empty file beside `target`.
  package init(beside target: String) throws(LMDBError) {
    try DataFile.validate(target)
    while true {
      let digits = String(UInt32.random(in: 0...UInt32.max), radix: 16, uppercase: true)
      let path = target + Self.mark + String(repeating: "0", count: 8 - digits.count) + digits
      if let descriptor = try Self.make(path) {
        self.path = path
        self.descriptor = descriptor
        Self.ofThisProcess.withLock { _ = $0.insert(path) }
        return
      }
    }
  }

  /// Keeps everybody from opening the file, and from taking it for abandoned, as long as this value
  /// lives: to give it its lasting name. Waits for those who are about to open it.
  package func excludeOpeners() throws(LMDBError) {
    guard OpeningLock.take(descriptor, .exclusive, waits: true) else { throw .lastSystemError }
  }

  /// nil where the name is taken or somebody has just cleared the file away.
  private static func make(_ path: String) throws(LMDBError) -> Int32? {
    let descriptor: Int32
    do throws(LMDBError) { descriptor = try DataFile.createDescriptor(path) } catch {
      if case .system(errno: EEXIST) = error { return nil }
      throw error
    }
    do throws(LMDBError) {
      if try isKept(descriptor, path) { return descriptor }
    } catch {
      close(descriptor)
      unlink(path)
      throw error
    }
    close(descriptor)
    return nil
  }

  /// Locks a file that was made just now; false where somebody clears it away.
  private static func isKept(_ descriptor: Int32, _ path: String) throws(LMDBError) -> Bool {
    guard OpeningLock.take(descriptor, .shared, waits: false) else {
      if errno == EAGAIN || errno == EACCES { return false }
      throw .lastSystemError
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .lastSystemError }
    guard let named = FileIdentity(path: path) else {
      if errno == ENOENT { return false }
      throw .lastSystemError
    }
    return named == FileIdentity(status)
  }

  // MARK: What dead makers left

  private static let mark = ".new-"
  private static let lockSuffix = "-lock"

  /// Removes the unfinished files beside `target` that nobody works on. Reads the whole folder.
  package static func removeAbandoned(beside target: String) {
    let (folder, name) = split(target)
    for unfinished in names(in: folder, startingWith: name + mark) {
      let path = folder + "/" + unfinished
      if unfinished.hasSuffix(lockSuffix) {
        // The data file comes first and goes last, so a lock file without one is of no use.
        let dataPath = String(path.dropLast(lockSuffix.utf8.count))
        if access(dataPath, F_OK) != 0, errno == ENOENT { unlink(path) }
      } else {
        removeIfAbandoned(path)
      }
    }
  }

  /// Removes the unfinished files that this process works on, which is about to end.
  package static func removeAllOfThisProcess() {
    ofThisProcess.withLock { paths in
      for path in paths {
        unlink(path + lockSuffix)
        unlink(path)
      }
    }
  }

  private static func removeIfAbandoned(_ path: String) {
    let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var status = stat()
    // Finished meanwhile, the file has another name: then it is a store.
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_uid == geteuid(), OpeningLock.take(descriptor, .exclusive, waits: false),
      FileIdentity(path: path) == FileIdentity(status)
    else { return }
    unlink(path + lockSuffix)
    unlink(path)
  }

  private static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    return (String(path[..<slash]), String(path[path.index(after: slash)...]))
  }

  /// The names of this form in a folder: the beginning, eight digits and perhaps the lock's ending.
  private static func names(in folder: String, startingWith start: String) -> [String] {
    guard let directory = opendir(folder.isEmpty ? "/" : folder) else { return [] }
    defer { closedir(directory) }
    var found: [String] = []
    while let entry = readdir(directory) {
      // Sound: the system ends the name with a zero byte inside the entry, which lives until the
      // next call.
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
      }
      guard name.hasPrefix(start) else { continue }
      var rest = name.dropFirst(start.count)
      if rest.hasSuffix(lockSuffix) { rest.removeLast(lockSuffix.count) }
      if rest.utf8.count == 8, rest.allSatisfy(\.isHexDigit) { found.append(name) }
    }
    return found
  }
}
