internal import ArborLocks
internal import CArborBits

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A new file with a temporary name next to its final one: `NAME.new-1A2B3C4D`, possibly with a
/// lock file `NAME.new-1A2B3C4D-lock`.
///
/// As long as this value exists, its descriptor holds a shared lock, which the system releases when
/// the process dies. A file that can be locked exclusively is therefore abandoned, without relying
/// on timestamps. A process whose file is removed between creating and locking it notices that the
/// name refers to another file or none, and chooses another name.
///
/// This lock is independent of the `flock` of stores: examining a file that is just becoming a
/// store must not prevent other code from opening that store.
package struct UnfinishedFile: ~Copyable {
  /// The temporary path.
  package let path: String
  private let descriptor: Int32

  private struct Registry {
    /// The paths of existing values.
    var paths: Set<String> = []
    /// Whether the process is about to end, so that it creates no more files.
    var isEnding = false
  }

  private static let ofThisProcess = Lock(Registry())

  deinit {
    Self.ofThisProcess.withLock { _ = $0.paths.remove(path) }
    close(descriptor)
  }

  /// Creates an empty file next to `target`.
  package init(beside target: String) throws(LMDBError) {
    try DataFile.validate(target)
    while true {
      let digits = String(UInt32.random(in: 0...UInt32.max), radix: 16, uppercase: true)
      let path = target + Self.mark + String(repeating: "0", count: 8 - digits.count) + digits
      // Under the lock, so that a file is never on the disk without being registered.
      let descriptor = try Self.ofThisProcess.withLock { (registry) throws(LMDBError) -> Int32? in
        if registry.isEnding { throw .system(errno: EINTR) }
        let descriptor = try Self.make(path)
        if descriptor != nil { registry.paths.insert(path) }
        return descriptor
      }
      if let descriptor {
        self.path = path
        self.descriptor = descriptor
        return
      }
    }
  }

  /// Prevents the file from being opened or considered abandoned as long as this value exists, in
  /// order to rename it to its final name. Waits for processes that are opening it.
  package func excludeOpeners() throws(LMDBError) {
    guard OpeningLock.take(descriptor, .exclusive, waits: true) else { throw .lastSystemError }
  }

  /// Gives the file its final name. Returns 0 or the system's error number, which is `EEXIST` if
  /// another file has the name and isn't to be replaced.
  package func rename(to target: String, replacing: Bool) -> Int32 {
    guard replacing else { return arbor_rename_exclusive(path, target) }
    return systemRename(path, target) == 0 ? 0 : errno
  }

  /// Creates and locks a file. Returns `nil` if the name is taken or the file has just been removed
  /// by a cleanup.
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

  /// Locks a file that was just created. Returns `false` if it is being removed by a cleanup.
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

  // MARK: Abandoned files

  private static let mark = ".new-"
  private static let lockSuffix = "-lock"

  /// Removes the abandoned files next to `target`. Reads the whole folder.
  package static func removeAbandoned(beside target: String) {
    let (folder, name) = split(target)
    for unfinished in names(in: folder, startingWith: name + mark) {
      let path = folder + "/" + unfinished
      if unfinished.hasSuffix(lockSuffix) {
        // The data file is created first and removed last, so a lock file without one is unused.
        let dataPath = String(path.dropLast(lockSuffix.utf8.count))
        if access(dataPath, F_OK) != 0, errno == ENOENT { unlink(path) }
      } else {
        removeIfAbandoned(path)
      }
    }
  }

  /// Removes the unfinished files of this process, which is about to end.
  package static func removeAllOfThisProcess() {
    ofThisProcess.withLock { registry in
      registry.isEnding = true
      for path in registry.paths {
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
    // If it has been finished in the meantime, it has another name and is a store.
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

  /// Returns the matching names in a folder: the prefix, eight digits and possibly the suffix of a
  /// lock file.
  private static func names(in folder: String, startingWith start: String) -> [String] {
    guard let directory = opendir(folder.isEmpty ? "/" : folder) else { return [] }
    defer { closedir(directory) }
    var found: [String] = []
    while let entry = readdir(directory) {
      // Memory safety: the system terminates the name with a zero byte within the entry, which is
      // valid until the next call.
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

/// Calls the system's `rename`, whose name the method shadows.
private func systemRename(_ source: String, _ target: String) -> Int32 { rename(source, target) }
