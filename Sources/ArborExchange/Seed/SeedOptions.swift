public import Foundation

/// How far a seed may reach and how much it may read.
///
/// The defaults suit documents that the application ships. A seed beyond a limit fails and changes
/// nothing. For documents of unknown origin:
///
/// ```swift
/// var options = SeedOptions()
/// options.remote = .refused              // or .hosts(["data.example.com"])
/// options.maximumSize = 1 << 20
/// try context.seed(from: .file(url), options: options)
/// ```
public struct SeedOptions: Sendable {
  /// Which documents a seed may fetch over the network.
  public enum RemoteDocuments: Sendable, Hashable {
    /// Those of any host, over https and http.
    case allowed
    /// Those of these hosts, as a URL names them, and redirects among them. What such a
    /// name leads to is its owner's to say: name only hosts that you trust.
    case hosts([String])
    /// None, top documents included.
    case refused
  }

  /// Where the numbers come from that `"<uniqueID>"` draws.
  public enum UniqueIDSource: Sendable, Hashable {
    /// The store that is seeded: unique in it.
    case store
    /// ``UniqueIDGenerator``: unique in all stores of the application.
    case application
  }

  /// The folder that links of documents may reach. `nil`: the folder of the top document, and no
  /// `..` in links; a document in memory then has no links to files.
  public var root: URL?
  /// The greatest size of all documents of a seed together, in bytes: 256 MiB.
  public var maximumSize = 256 << 20
  /// The greatest number of documents a seed reads; one that is linked twice counts twice: 10,000.
  public var maximumDocuments = 10_000
  /// The greatest number of objects a seed creates: 1,000,000, for a seed is planned as a whole,
  /// which takes about a hundred bytes an object. Larger data are imported in batches.
  public var maximumObjects = 1_000_000
  /// The greatest number of members that a seed gives to one relationship of one object: 1,000,000.
  public var maximumMembers = 1_000_000
  /// Where the numbers come from that `"<uniqueID>"` draws: the store, at first.
  public var uniqueIDs = UniqueIDSource.store
  /// Which documents may be fetched over the network: all, at first.
  public var remote = RemoteDocuments.allowed
  /// The greatest size of one document from the network, unpacked, in bytes: 64 MiB.
  public var maximumRemoteSize = 64 << 20
  /// The longest time that one document from the network may take, redirects included, in seconds:
  /// 30.
  public var maximumTime: TimeInterval = 30
  /// The greatest number of redirects on the way to one document: 5. None leads from https to http.
  public var maximumRedirects = 5

  /// The default options.
  public init() {}
}
