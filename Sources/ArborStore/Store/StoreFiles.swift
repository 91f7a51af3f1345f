internal import Foundation
internal import LMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A store's files as such: locked against everybody, renamed, removed.
enum StoreFiles {
  /// Runs `body` while nobody else has an open store's file open; the environment is closed first.
  static func exclusively(
    _ environment: Environment, _ body: () throws(StoreError) -> Void
  ) throws(StoreError) {
    try typed(environment.path) {
      try environment.withExclusiveLock {
        try environment.close()
        try body()
      }
    }
  }

  /// Runs `body` while nobody has the file at a path open.
  static func exclusively(
    path: String, _ body: () throws(StoreError) -> Void
  ) throws(StoreError) {
    try typed(path) { try Environment.withExclusiveLock(path: path) { try body() } }
  }

  private static func typed(_ path: String, _ body: () throws -> Void) throws(StoreError) {
    do {
      try body()
    } catch let error as StoreError {
      throw error
    } catch let error as LMDBError {
      throw StoreError(error, path: path)
    } catch {
      throw .inputOutput(operation: "lock", path: path, errno: EIO)
    }
  }

  /// Gives a damaged file another name beside its place, where it is kept.
  static func setAside(_ path: String) throws(StoreError) {
    let stamp = Date().formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
    var name = "\(path).damaged-\(stamp)"
    var number = 2
    while access(name, F_OK) == 0 {
      name = "\(path).damaged-\(stamp)-\(number)"
      number += 1
    }
    // First the lock file: once the name is free, it may be of somebody else's new store.
    unlink(path + "-lock")
    guard rename(path, name) == 0 else {
      throw StoreError.failed("rename", path, errno: errno)
    }
    try StoreCreation.synchronizeFolder(of: path)
  }

  /// Removes a store's files.
  static func remove(_ path: String) throws(StoreError) {
    unlink(path + "-lock")
    guard unlink(path) == 0 || errno == ENOENT else {
      throw StoreError.failed("unlink", path, errno: errno)
    }
    UnfinishedFile.removeAbandoned(beside: path)
    try StoreCreation.synchronizeFolder(of: path)
  }
}
