internal import CLMDB

/// A version of liblmdb, which a program finds when it is started.
///
/// Versions 0.9 write the pages that this module reads by itself; version 1.0 writes others, and
/// neither reads the other's files.
struct EngineVersion: Hashable, CustomStringConvertible {
  let major: Int32
  let minor: Int32
  let patch: Int32

  /// What every version needed has in common.
  static let needed = "0.9.x"

  /// The version that this program runs with.
  static let linked: EngineVersion = {
    var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
    _ = mdb_version(&major, &minor, &patch)
    return EngineVersion(major: major, minor: minor, patch: patch)
  }()

  var description: String { "\(major).\(minor).\(patch)" }

  /// Throws ``LMDBError/foreignEngine(found:)`` for a version that this module does not know.
  func validate() throws(LMDBError) {
    guard major == 0, minor == 9 else { throw .foreignEngine(found: description) }
  }
}
