import Foundation

@testable import LMDB

/// A folder for a test, removed when the last reference to it is released.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory
      .appending(path: "lmdb-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }

  /// Opens or creates an environment in this folder. Its pages are verified before use, as those of
  /// an existing file are.
  func environment(
    _ name: String = "store.arbor", mapSize: Int = 1 << 30,
    _ change: (inout EnvironmentOptions) -> Void = { _ in }
  ) throws -> Environment {
    var options = EnvironmentOptions()
    options.create = true
    options.durability = .none
    options.initialMapSize = mapSize
    change(&options)
    let environment = try Environment.open(path: file(name), options: options)
    environment.marks.areComplete = false
    return environment
  }
}

extension UInt64 {
  /// The bytes of the number in native byte order, as in integer keys.
  var nativeBytes: [UInt8] { withUnsafeBytes(of: self) { Array($0) } }
}

extension Array where Element == UInt8 {
  init(_ text: String) { self.init(text.utf8) }
}

extension WriteTransaction {
  /// Stores an entry given as arrays.
  @discardableResult
  func put(
    _ database: Database, _ key: [UInt8], _ value: [UInt8], _ mode: PutMode = .overwrite
  ) throws -> Bool {
    try key.withUnsafeBytes { key in
      try value.withUnsafeBytes { value in
        try put(database, key: key, value: value, mode)
      }
    }
  }

  @discardableResult
  func delete(_ database: Database, _ key: [UInt8]) throws -> Bool {
    try key.withUnsafeBytes { try delete(database, key: $0) }
  }

  @discardableResult
  func delete(_ database: Database, _ key: [UInt8], _ value: [UInt8]) throws -> Bool {
    try key.withUnsafeBytes { key in
      try value.withUnsafeBytes { value in try delete(database, key: key, value: value) }
    }
  }
}

extension ReadableTransaction where Self: ~Copyable {
  /// Returns a copy of the value of `key`.
  func bytes(_ database: Database, _ key: [UInt8]) throws -> [UInt8]? {
    try get(database, key: key).map { Array($0) }
  }
}

extension Environment {
  /// Returns a copy of the value of `key` as of the last commit.
  func value(_ database: Database, _ key: [UInt8]) throws -> [UInt8]? {
    try read { try $0.bytes(database, key) }
  }
}
