import ArborModel
import ArborStore
import Foundation
import LMDB

/// Complete reads of a file that is opened as a program would open it.
enum Reading {
  /// Returns a hash of all entries of all databases, or `nil` if the check found a problem.
  ///
  /// - Throws: The error that prevented the store from being opened or read.
  static func digest(_ path: String, isChecked: Bool) throws -> UInt64? {
    var opening = StoreOpening(.file(path), model: nil)
    opening.checksEveryPage = isChecked
    opening.looksForDamage = isChecked
    opening.initialMapSize = 1 << 26
    let store = try StoreEngine.open(opening)
    defer { store.close() }
    if isChecked, try !store.check().isSound { return nil }
    var digest: UInt64 = 14_695_981_039_346_656_037
    for (name, flags) in StoreDatabases.list(store.schema) {
      guard let database = try store.environment.openDatabase(name, flags) else {
        return nil
      }
      let snapshot = try store.snapshot()
      defer { snapshot.close() }
      let cursor = try snapshot.reader.cursor(database)
      var entry = try cursor.first()
      while let found = entry {
        fold(found.key, &digest)
        fold(found.value, &digest)
        entry = try cursor.next()
      }
    }
    return digest
  }

  private static func fold(_ bytes: UnsafeRawBufferPointer, _ digest: inout UInt64) {
    for byte in bytes { digest = (digest ^ UInt64(byte)) &* 1_099_511_628_211 }
    digest = (digest ^ UInt64(bytes.count)) &* 1_099_511_628_211
  }
}
