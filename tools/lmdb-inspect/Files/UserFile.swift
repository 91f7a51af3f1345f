import Foundation

/// A small JSON file of the user, in a folder of the XDG base directory specification.
struct UserFile {
  enum Folder {
    case settings
    case state

    fileprivate var variable: String {
      switch self {
      case .settings: "XDG_CONFIG_HOME"
      case .state: "XDG_STATE_HOME"
      }
    }

    fileprivate var fallback: String {
      switch self {
      case .settings: ".config"
      case .state: ".local/state"
      }
    }
  }

  private static let largest = 1 << 20

  private let folder: Folder
  private let name: String

  init(_ folder: Folder, _ name: String) {
    self.folder = folder
    self.name = name
  }

  /// The file's path, or `nil` if the user has no home folder. Relative paths in the variable are
  /// ignored, as the specification requires.
  private var path: String? {
    let variables = ProcessInfo.processInfo.environment
    if let base = variables[folder.variable], base.hasPrefix("/") {
      return "\(base)/lmdb-inspect/\(name)"
    }
    guard let home = variables["HOME"], home.hasPrefix("/") else { return nil }
    return "\(home)/\(folder.fallback)/lmdb-inspect/\(name)"
  }

  /// Returns the contents, or `nil` if the file doesn't exist. Reports and ignores an unusable file.
  func contents<Value: Decodable>(_ type: Value.Type) -> Value? {
    do { return try read(type) } catch {
      StandardStream.report("lmdb-inspect: \(error) The file is ignored.")
      return nil
    }
  }

  /// Changes the contents. The replacement is atomic.
  ///
  /// - Throws: ``InspectError`` if the file cannot be used or written.
  func change<Value: Codable>(_ empty: Value, _ change: (inout Value) -> Void) throws {
    guard let path else {
      throw InspectError.unwritable("The folder for \(name) is unknown. Set \(folder.variable).")
    }
    var value = try read(Value.self) ?? empty
    change(&value)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let bytes = Array(try encoder.encode(value)) + [UInt8(ascii: "\n")]
    do {
      try FileManager.default.createDirectory(
        at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    } catch let error as CocoaError {
      throw InspectError.unwritable("\(path) cannot be written: \(error.systemMessage).")
    }
    let file = try OutputFile(path, replaces: true, source: "")
    try file.write(bytes)
    try file.finish()
  }

  func remove() throws {
    guard let path, unlink(path) != 0, errno != ENOENT else { return }
    throw InspectError.unwritable(
      "\(path) cannot be removed: \(String(cString: strerror(errno))).")
  }

  /// Reads the file, which must be small, owned by the user, and not writable by others. Returns
  /// `nil` if it doesn't exist.
  private func read<Value: Decodable>(_ type: Value.Type) throws -> Value? {
    guard let path else { return nil }
    // Without O_NONBLOCK, opening a pipe would wait for its other end.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw unusable(path, String(cString: strerror(errno)))
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw unusable(path, "it is not a regular file")
    }
    guard status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
      throw unusable(path, "other users can change it")
    }
    guard status.st_size <= Self.largest, let data = try? handle.readToEnd() ?? Data(),
      data.count <= Self.largest
    else { throw unusable(path, "it is too large") }
    guard let value = try? JSONDecoder().decode(type, from: data) else {
      throw unusable(path, "its contents are not valid")
    }
    return value
  }

  private func unusable(_ path: String, _ reason: String) -> InspectError {
    .unreadable("\(path) cannot be used: \(reason). Correct or remove the file.")
  }
}
