public import Foundation

/// Where a store lies.
public enum StoreLocation: Sendable, Hashable {
  /// A file, and one beside it for LMDB's locks. The usual extension is `arbor`.
  case file(URL)
  /// The same by the file's path, absolute or from the working directory: for programs that have
  /// the path of a file and no URL, which takes longer to make than a store to open.
  case path(String)
  /// Memory: the store ends with its last use.
  case inMemory
}
