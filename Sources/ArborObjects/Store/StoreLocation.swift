public import Foundation

/// Where a store lies.
public enum StoreLocation: Sendable, Hashable {
  /// A file, and one beside it for LMDB's locks. The usual extension is `arbor`.
  case file(URL)
  /// Memory: the store ends with its last use.
  case inMemory
}
