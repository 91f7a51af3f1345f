public import ArborModel
public import ArborObjects
public import Foundation

extension ManagedObjectContext {
  /// Creates the objects that a document and the documents it links to describe. Nothing is
  /// committed.
  ///
  /// A document is one JSON object. With `seedlings` it is a list of links whose documents are read
  /// in its place; with `seeds` it is a list of documents; otherwise its one key names an entity
  /// and its value is an object or a list of objects, whose keys are properties of the entity:
  ///
  /// ```json
  /// {"Company": [{
  ///   "companyName": "Foo Inc.",
  ///   "companyID": "<uniqueID>",
  ///   "employees": {"seedlings": [{"seedFile": "Employees.seed.json"}]},
  ///   "address": {"city": "Berlin"}
  /// }]}
  /// ```
  ///
  /// Linked documents are files beside it (`seedFile`) or come over the network (`seedUrl`). An
  /// instance gets a label by `"$id"`, by which `{"$ref": "label"}` reaches it as the member of a
  /// relationship; `{"$find": "Department", "name": "R&D"}` reaches the one object with these
  /// values, whether the seed makes it or the context has it. A file named `.ndjson` or `.jsonl`
  /// holds a document on each line.
  ///
  /// The calling thread waits for documents from the network, half a minute for each at most.
  ///
  /// - Parameters:
  ///   - source: The document: a file, a URL of https or http, or JSON in memory, whose links need
  ///     a ``SeedOptions/root``.
  ///   - options: What the documents may reach and how large they may be.
  /// - Returns: What was created.
  /// - Throws: ``ArborError`` with source, line, column and JSON path where a document does not fit
  ///   the model, cannot be read or fetched, leaves its folder, links to itself or exceeds a limit.
  ///   The context is then exactly as it was before.
  /// - Complexity: Linear in the size of the documents and the number of objects.
  @discardableResult
  public func seed(
    from source: JSONSource, options: SeedOptions = SeedOptions()
  ) throws(ArborError) -> SeedReport {
    try seed(from: [source], options: options)
  }

  /// Creates the objects that several documents describe, all or none of them. Nothing is
  /// committed.
  ///
  /// - Parameters:
  ///   - sources: The documents. Each file has its own folder to stay in; labels hold across all.
  ///   - options: What the documents may reach and how large they may be, together.
  /// - Returns: What was created.
  /// - Throws: ``ArborError`` as for a single document; the context is then exactly as it was
  ///   before.
  @discardableResult
  public func seed(
    from sources: [JSONSource], options: SeedOptions = SeedOptions()
  ) throws(ArborError) -> SeedReport {
    var reader = SeedReader(self, options)
    let top = try sources.map { (source) throws(ArborError) in try reader.read(source) }
    let plan = try reader.finish()
    let run = ExchangeRun(plan)
    try withSavepoint { () throws(ArborError) in try run.carryOutAll() }
    var report = SeedReport()
    report.documents = reader.documentsRead
    report.objects = plan.flattened(top).compactMap { member in
      if case .item(let index) = member { run.objects[Int(index)] } else { nil }
    }
    for item in plan.items { report.created[plan.mapping(of: item).entity.name, default: 0] += 1 }
    return report
  }
}

extension ManagedObjectContext {
  /// Seeds a store once in its life: documents and the mark that they were read are one commit.
  ///
  /// The documents are read into a context of their own, so this one's uncommitted changes are
  /// neither seen nor committed; afterwards this one has taken the commit in. Of several processes
  /// that seed at the same time one does. A purge removes the mark with the data.
  ///
  /// ```swift
  /// try context.seedOnce("catalogue-v1", from: .file(url))
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the mark.
  ///   - sources: The documents.
  ///   - options: What the documents may reach and how large they may be, together.
  /// - Returns: What was created, as objects of this context; `nil` if the store was seeded
  ///   before.
  /// - Throws: ``ArborError`` as ``seed(from:options:)-([JSONSource],_)`` and `commit()` do; the store and
  ///   this context are then as they were before.
  @discardableResult
  public func seedOnce(
    _ name: String, from sources: [JSONSource], options: SeedOptions = SeedOptions()
  ) throws(ArborError) -> SeedReport? {
    let mark = "seed/\(name)"
    guard try !store.hasMark(mark) else { return nil }
    let scratch = store.makeContext()
    scratch.author = author
    scratch.name = self.name
    var report = try scratch.seed(from: sources, options: options)
    do {
      try scratch.commit(marking: mark)
    } catch {
      // Another process was faster.
      if error.code == .conflict, try store.hasMark(mark) { return nil }
      throw error
    }
    try mergeExternalCommits()
    report.objects = try report.objectIDs.map { (id) throws(ArborError) in try object(with: id) }
    return report
  }

  /// Seeds a store once in its life from one document.
  ///
  /// - Returns: What was created, as objects of this context; `nil` if the store was seeded
  ///   before.
  /// - Throws: ``ArborError`` as with several documents.
  @discardableResult
  public func seedOnce(
    _ name: String, from source: JSONSource, options: SeedOptions = SeedOptions()
  ) throws(ArborError) -> SeedReport? {
    try seedOnce(name, from: [source], options: options)
  }
}

/// What a seed has done.
///
/// Holds objects, so it stays with the thread of their context; ``objectIDs`` may leave it.
public struct SeedReport {
  /// The number of objects created, by the name of their entity.
  public var created: [String: Int] = [:]
  /// The documents in the order in which they were read; one that was linked twice is listed twice, and one
  /// in memory is not.
  public var documents: [URL] = []
  /// The objects that the top documents create, directly and through `seedlings` and `seeds`, in
  /// order; objects within relationships are not among them.
  public var objects: [ManagedObject] = []

  /// The identities of ``objects``.
  public var objectIDs: [ObjectID] { objects.map(\.objectID) }

  /// The number of all objects created.
  public var count: Int { created.values.reduce(0, +) }
}

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
