import ArborFoundation
import ArborModel

/// A document read from the file system, with the identity of its file.
///
/// The unsafe calls pass pointers to a path and a `stat` structure, both of which Swift keeps alive
/// for the duration of the call.
struct SeedFile {
  /// The identity of a file, independent of its path.
  struct Identity: Hashable {
    let device: UInt64
    let number: UInt64
  }

  enum Problem: Error {
    case missing
    case unreadable(code: Int32)
    case notAFile
    case outside
    case tooLarge
  }

  let data: Data
  let identity: Identity

  /// Reads a regular file.
  ///
  /// - Parameters:
  ///   - path: The file's path.
  ///   - root: The folder, with symbolic links resolved, that must contain the file after its own
  ///     links are resolved, or `nil` for any folder.
  ///   - limit: The maximum number of bytes.
  init(path: String, within root: String?, limit: Int) throws(Problem) {
    // Nonblocking, because opening a named pipe would otherwise wait for a writer.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw errno == ENOENT || errno == ENOTDIR ? .missing : .unreadable(code: errno)
    }
    let file = OpenFile(descriptor: descriptor)
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw .unreadable(code: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
    identity = Identity(status)
    if let root {
      // The path is resolved after opening the file and must refer to the same file, so that
      // replacing a link in between has no effect.
      guard let resolved = Self.resolved(path), resolved.hasPrefix(root == "/" ? root : root + "/")
      else { throw .outside }
      var resolvedStatus = stat()
      guard unsafe lstat(resolved, &resolvedStatus) == 0, Identity(resolvedStatus) == identity
      else { throw .outside }
    }
    guard status.st_size <= limit else { throw .tooLarge }
    var data = Data()
    do {
      while data.count <= limit {
        let piece = try file.bytes(upTo: min(limit - data.count, 1 << 24) + 1)
        if piece.isEmpty { break }
        data.append(piece)
      }
    } catch {
      throw .unreadable(code: EIO)
    }
    guard data.count <= limit else { throw .tooLarge }
    self.data = data
  }

  /// Returns a path with all symbolic links resolved, or `nil` if it doesn't exist.
  static func resolved(_ path: String) -> String? {
    // Without a buffer, the function allocates the result, which is freed here.
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }
}

extension SeedFile.Problem {
  var code: ArborError.Code {
    switch self {
    case .missing, .unreadable, .notAFile: .fileUnreadable
    case .outside: .notAllowed
    case .tooLarge: .limitExceeded
    }
  }

  private static func reason(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }

  /// Returns a description of the error and its remedy.
  func message(of path: String, _ options: SeedOptions) -> String {
    switch self {
    case .missing: "The file \(path) doesn't exist. Create it, or correct its name."
    case .unreadable(let code):
      "The file \(path) cannot be read: \(Self.reason(code)). Check its permissions."
    case .notAFile: "\(path) is not a regular file. Use a JSON file."
    case .outside:
      "The file \(path) is outside the folder that the seed may read. Move it there, or set a root "
        + "folder in the options."
    case .tooLarge:
      "With \(path), the seed exceeds the limit of \(options.maximumSize) bytes. Split the seed, "
        + "or raise maximumSize."
    }
  }
}

extension SeedFile.Identity {
  fileprivate init(_ status: stat) {
    self.init(
      device: UInt64(truncatingIfNeeded: status.st_dev),
      number: UInt64(truncatingIfNeeded: status.st_ino))
  }
}
