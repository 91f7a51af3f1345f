public import Foundation

/// How far a seed may reach and how much it may read.
///
/// The defaults suit documents that the application ships. A seed beyond a limit fails before it
/// changes anything.
public struct SeedOptions: Sendable {
  /// The folder that links of documents may reach; nil: the folder of the top document, and no `..`
  /// in links.
  public var root: URL?
  /// The greatest size of all documents of a seed together, in bytes: 256 MiB.
  public var maximumSize = 256 << 20
  /// The greatest number of documents a seed reads; one that is linked twice counts twice: 10,000.
  public var maximumDocuments = 10_000
  /// The greatest number of objects a seed creates: 10,000,000.
  public var maximumObjects = 10_000_000

  /// The default options.
  public init() {}
}
