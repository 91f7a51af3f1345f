public import ArborFoundation
public import ArborModel
public import ArborObjects

extension ManagedObjectContext {
  /// Creates the objects described by a document and the documents it links to. Nothing is
  /// committed.
  ///
  /// A document is a JSON object. With `seedlings` it is a list of links to documents that are read
  /// in its place; with `seeds` it is a list of documents. Otherwise its only key is the name of an
  /// entity, and its value is an object or a list of objects, whose keys are properties of the
  /// entity:
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
  /// A linked document is a file whose path is relative to the linking document (`seedFile`), or is
  /// downloaded (`seedUrl`). `"$id"` labels an instance, and `{"$ref": "label"}` refers to it as a
  /// member of a relationship. `{"$find": "Department", "name": "R&D"}` refers to the only object
  /// with these values, whether it is created by the seed or already in the context. A file with
  /// the extension `.ndjson` or `.jsonl` contains a document on each line.
  ///
  /// The calling thread waits for downloads, each for at most ``SeedOptions/maximumTime``.
  ///
  /// - Parameters:
  ///   - source: The document: a file, an HTTP or HTTPS URL, or JSON in memory, whose links require
  ///     a ``SeedOptions/root``.
  ///   - options: The locations that documents may link to, and limits on their size.
  /// - Returns: A report of the created objects.
  /// - Throws: ``ArborError`` with source, line, column and JSON path if a document doesn't fit the
  ///   model, cannot be read or downloaded, is outside its folder, links to itself or exceeds a
  ///   limit. The context is unchanged in that case.
  /// - Complexity: Linear in the size of the documents and the number of objects.
  @discardableResult
  public func seed(
    from source: JSONSource, options: SeedOptions = SeedOptions()
  ) throws(ArborError) -> SeedReport {
    try seed(from: [source], options: options)
  }

  /// Creates the objects described by several documents, all or none of them. Nothing is committed.
  ///
  /// - Parameters:
  ///   - sources: The documents. The links of each file are restricted to its own folder. Labels
  ///     are shared by all documents.
  ///   - options: The locations that documents may link to, and limits on their total size.
  /// - Returns: A report of the created objects.
  /// - Throws: The same errors as for a single document. The context is unchanged in that case.
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
  /// Seeds a store once in its lifetime. The objects and the marker are written in one commit.
  ///
  /// The documents are read into a separate context, so this context's uncommitted changes are
  /// neither visible to the seed nor committed by it. Afterwards, the commit has been merged into
  /// this context. If several processes seed at the same time, only one of them does. Purging the
  /// store removes the marker together with the data.
  ///
  /// ```swift
  /// try context.seedOnce("catalog-v1", from: .file(url))
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the marker.
  ///   - sources: The documents.
  ///   - options: The locations that documents may link to, and limits on their total size.
  /// - Returns: A report of the created objects, which belong to this context, or `nil` if the
  ///   store was seeded before.
  /// - Throws: The same errors as ``seed(from:options:)-([JSONSource],_)`` and `commit()`. The
  ///   store and this context are unchanged in that case.
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

  /// Seeds a store once in its lifetime from one document.
  ///
  /// - Returns: A report of the created objects, which belong to this context, or `nil` if the
  ///   store was seeded before.
  /// - Throws: The same errors as the overload that takes several documents.
  @discardableResult
  public func seedOnce(
    _ name: String, from source: JSONSource, options: SeedOptions = SeedOptions()
  ) throws(ArborError) -> SeedReport? {
    try seedOnce(name, from: [source], options: options)
  }
}

/// A report of the objects created by a seed.
///
/// It contains objects and must stay on the thread of their context. Pass its ``objectIDs``
/// instead.
public struct SeedReport {
  /// The number of objects created, by entity name.
  public var created: [String: Int] = [:]
  /// The documents in the order in which they were read. A document that was linked twice is listed
  /// twice. Documents in memory are not listed.
  public var documents: [URL] = []
  /// The objects created by the top-level documents, directly and through `seedlings` and `seeds`,
  /// in order. Objects nested in relationships are not included.
  public var objects: [ManagedObject] = []

  /// The IDs of ``objects``.
  public var objectIDs: [ObjectID] { objects.map(\.objectID) }

  /// The total number of objects created.
  public var count: Int { created.values.reduce(0, +) }
}

/// Limits on the locations and sizes of a seed's documents.
///
/// The defaults are appropriate for documents shipped with the application. A seed that exceeds a
/// limit fails without changes. For documents of unknown origin:
///
/// ```swift
/// var options = SeedOptions()
/// options.remote = .refused              // or .hosts(["data.example.com"])
/// options.maximumSize = 1 << 20
/// try context.seed(from: .file(url), options: options)
/// ```
public struct SeedOptions: Sendable {
  /// The documents that a seed may download.
  public enum RemoteDocuments: Sendable, Hashable {
    /// Documents from any host, over HTTPS and HTTP.
    case allowed
    /// Documents from these hosts, and redirects between them. A host determines its own content,
    /// so list only hosts that you trust.
    case hosts([String])
    /// No documents, including top-level ones.
    case refused
  }

  /// The source of the numbers for `"<uniqueID>"`.
  public enum UniqueIDSource: Sendable, Hashable {
    /// The seeded store. Numbers are unique within it.
    case store
    /// ``UniqueIDGenerator``. Numbers are unique across all stores of the application.
    case application
  }

  /// The folder to which links are restricted. If `nil`, it is the folder of the top-level
  /// document, links must not contain `..`, and documents in memory cannot link to files.
  public var root: URL?
  /// The maximum total size of a seed's documents in bytes. Defaults to 256 MiB.
  public var maximumSize = 256 << 20
  /// The maximum number of documents, counting each link. Defaults to 10,000.
  public var maximumDocuments = 10_000
  /// The maximum number of objects. Defaults to 1,000,000, because a seed is planned as a whole,
  /// which uses about 100 bytes per object. Import larger amounts of data in batches.
  public var maximumObjects = 1_000_000
  /// The maximum number of members of one relationship of an object. Defaults to 1,000,000.
  public var maximumMembers = 1_000_000
  /// The source of the numbers for `"<uniqueID>"`. Defaults to the store.
  public var uniqueIDs = UniqueIDSource.store
  /// The documents that may be downloaded. Defaults to all.
  public var remote = RemoteDocuments.allowed
  /// The maximum size of a downloaded document in bytes, after decompression. Defaults to 64 MiB.
  public var maximumRemoteSize = 64 << 20
  /// The maximum time for downloading a document in seconds, including redirects. Defaults to 30.
  public var maximumTime: TimeInterval = 30
  /// The maximum number of redirects for a document. Defaults to 5. Redirects from HTTPS to HTTP
  /// are never followed.
  public var maximumRedirects = 5

  /// Creates options with default values.
  public init() {}
}
