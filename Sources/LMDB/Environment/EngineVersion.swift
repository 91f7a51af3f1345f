internal import CLMDB

/// A version of liblmdb, which is determined when the program starts.
///
/// Versions 0.9 write the page format that this module reads itself. Version 1.0 writes another
/// one, and neither reads the other's files.
struct EngineVersion: Hashable, CustomStringConvertible {
  let major: Int32
  let minor: Int32
  let patch: Int32

  /// The supported versions.
  static let needed = "0.9.x"

  /// The version that this program is linked with.
  static let linked: EngineVersion = {
    var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
    _ = mdb_version(&major, &minor, &patch)
    return EngineVersion(major: major, minor: minor, patch: patch)
  }()

  var description: String { "\(major).\(minor).\(patch)" }

  /// Throws ``LMDBError/foreignEngine(found:)`` if the version is not supported.
  func validate() throws(LMDBError) {
    guard major == 0, minor == 9 else { throw .foreignEngine(found: description) }
  }
}
