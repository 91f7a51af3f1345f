import ArborFoundation
import ArborJSON
import ArborModel
import ArborObjects

/// Reads the top-level documents of a seed, and all documents they link to, into a plan.
///
/// Pending documents are kept in a list instead of recursing, because links may be nested
/// arbitrarily. The objects created by a document form a group of the plan: group *n* belongs to
/// document *n*.
struct SeedReader {
  /// A document of the seed.
  private struct Document {
    /// The document's location. After reading, the location at the end of all redirects.
    var source: SeedSource
    /// The link to the document, or `nil` for a top-level document.
    let link: JSONNode?
    let parent: Int?
  }

  /// The string that represents a new unique number.
  static let uniqueID = "<uniqueID>"

  let schema: ModelSchema
  let options: SeedOptions
  let plan: ExchangePlan
  var labels = SeedLabels()
  /// The number of the document that is being read.
  private var current = 0
  /// The documents by number, which is assigned when a link is encountered.
  private var documents: [Document] = []
  private(set) var documentsRead: [URL] = []
  private var waiting: [Int] = []
  /// The documents from the top-level one to the current one.
  private var chain: [(number: Int, identity: SeedSource.Identity)] = []
  /// The documents in the chain.
  private var open: Set<SeedSource.Identity> = []
  private var size = 0
  /// The downloader, created for the first remote document.
  private var downloader: (any SeedDownloading)?

  /// The mappings of entities, by index.
  private var mappings: [ExchangeMapping?]

  init(_ context: ManagedObjectContext, _ options: SeedOptions) {
    self.options = options
    schema = context.store.schema
    plan = ExchangePlan(context, maximumMembers: options.maximumMembers)
    mappings = Array(repeating: nil, count: schema.entities.count)
  }

  /// Returns the mapping of an entity, in which every property is mapped to its own name.
  mutating func mapping(of entity: EntitySchema) throws(ArborError) -> ExchangeMapping {
    if let mapping = mappings[entity.index] { return mapping }
    var rules = ExchangeRules()
    rules.uniqueIDs = options.uniqueIDs
    let mapping = try ExchangeMapping(ofAll: entity, in: schema, policy: .putFirst, rules: rules)
    mappings[entity.index] = mapping
    return mapping
  }

  /// Reads a top-level document and all documents it links to. Returns the planned objects.
  mutating func read(_ source: JSONSource) throws(ArborError) -> ExchangePlan.Member {
    let top = try add(Document(source: try topSource(source), link: nil, parent: nil))
    waiting = [top]
    while let number = waiting.popLast() {
      current = number
      try plan.limit.checkNow()
      let roots = try load(number)
      if let url = documents[number].source.url { documentsRead.append(url) }
      let firstLinked = documents.count
      for root in roots { plan.groups[number] += try planDocument(root) }
      // The last element is read first.
      waiting.append(contentsOf: (firstLinked..<documents.count).reversed())
    }
    return .group(Int32(top))
  }

  /// Finishes reading and resolves references.
  func finish() throws(ArborError) -> ExchangePlan {
    plan.labels = try labels.resolve(in: plan)
    return plan
  }

  private func topSource(_ source: JSONSource) throws(ArborError) -> SeedSource {
    guard case .file(let url) = source.content else {
      return .memory(
        source, try options.root.map { (root) throws(ArborError) in try SeedFolder(root: root) })
    }
    guard !url.isFileURL else {
      let (folder, way) = try SeedFolder.containing(url, root: options.root)
      return .file(folder, way: way)
    }
    if let problem = SeedAddress.problem(of: url, options.remote) {
      let code = problem.code
      throw ArborError(code == .invalidPath ? .invalidArgument : code, problem.message)
    }
    return .remote(url)
  }

  /// Adds the file of a link to the pending documents. Returns its planned objects.
  mutating func follow(_ link: JSONNode, toFile name: String) throws(ArborError)
    -> ExchangePlan.Member
  {
    let folder: SeedFolder
    var way: [String] = []
    switch documents[current].source {
    case .file(let linking, let wayThere): (folder, way) = (linking, wayThere)
    case .memory(_, let root?): folder = root
    case .memory(_, nil):
      throw link.error(
        "An in-memory document has no folder for a seedFile. Set a root folder in the options, or "
          + "use a seedUrl.", code: .notAllowed)
    case .remote:
      throw link.error(
        "A document from the network cannot link local files. Use a seedUrl; it may be relative.",
        code: .notAllowed)
    }
    let linked = try folder.way(to: name, from: way, link: link)
    let document = Document(source: .file(folder, way: linked), link: link, parent: current)
    return .group(Int32(try add(document)))
  }

  /// Adds the remote document of a link to the pending documents. Returns its planned objects.
  mutating func follow(_ link: JSONNode, toURL text: String) throws(ArborError)
    -> ExchangePlan.Member
  {
    var base: URL?
    if case .remote(let url) = documents[current].source { base = url }
    let url: URL
    do throws(SeedAddress.Problem) {
      url = try SeedAddress.url(text, relativeTo: base, options.remote)
    } catch {
      throw link.error(error.message + Self.saying(way(to: current)), code: error.code)
    }
    return .group(Int32(try add(Document(source: .remote(url), link: link, parent: current))))
  }

  private mutating func add(_ document: Document) throws(ArborError) -> Int {
    guard documents.count < options.maximumDocuments else {
      let error = ArborError(
        .limitExceeded,
        "The seed has more than \(options.maximumDocuments) documents. Link fewer, or raise "
          + "maximumDocuments.")
      throw error.with(location: document.link?.location)
    }
    documents.append(document)
    plan.groups.append([])
    return documents.count - 1
  }

  private mutating func load(_ number: Int) throws(ArborError) -> [JSONNode] {
    let data: Data
    let isLines: Bool
    switch documents[number].source {
    case .file(let folder, let way):
      let file = try load(number, path: folder.path(of: way), in: folder)
      try enter(number, .file(file.identity))
      data = file.data
      isLines = documents[number].source.isNamedLines
    case .remote(let url):
      try enter(number, .remote(SeedAddress.identity(of: url)))
      let download = try load(number, url)
      if SeedAddress.identity(of: download.url) != SeedAddress.identity(of: url) {
        documents[number].source = .remote(download.url)
        try enter(number, .remote(SeedAddress.identity(of: download.url)))
      }
      data = download.data
      isLines = download.isLines || documents[number].source.isNamedLines
    case .memory(let source, _):
      try enter(number, .memory(number))
      data = try source.data()
      guard data.count <= options.maximumSize - size else {
        let name = source.name ?? "the in-memory document"
        throw failure(
          .limitExceeded, SeedFile.Problem.tooLarge.message(of: name, options), loading: number)
      }
      isLines = documents[number].source.isNamedLines
    }
    size += data.count
    var limits = JSONLimits()
    limits.maximumSize = options.maximumSize
    return try SeedText.roots(
      data, source: documents[number].source.name, isLines: isLines, limits: limits, plan.limit)
  }

  private func load(
    _ number: Int, path: String, in folder: SeedFolder
  ) throws(ArborError) -> SeedFile {
    let isBound = documents[number].link != nil || options.root != nil
    do throws(SeedFile.Problem) {
      return try SeedFile(
        path: path, within: isBound ? folder.path : nil, limit: options.maximumSize - size)
    } catch {
      throw failure(error.code, error.message(of: path, options), loading: number)
    }
  }

  private mutating func load(
    _ number: Int, _ url: URL
  ) throws(ArborError) -> SeedDownload {
    let downloader =
      if let downloader { downloader } else { try SeedNetwork.downloader(options) }
    self.downloader = downloader
    do throws(SeedDownloadProblem) {
      return try downloader.fetch(url, limit: options.maximumSize - size, work: plan.limit.work)
    } catch {
      if case .interrupted(let interruption) = error { throw ArborError(interruption) }
      throw failure(error.code, error.message(of: url.absoluteString), loading: number)
        .with(underlying: error.underlying)
    }
  }

  // MARK: The chain of documents

  /// Adds a document to the chain. Throws if a document links to itself, directly or through
  /// others. A redirected document is added with both of its URLs.
  private mutating func enter(_ number: Int, _ identity: SeedSource.Identity) throws(ArborError) {
    // Documents are read depth first, so the linking document is still in the chain.
    while let last = chain.last, last.number != documents[number].parent, last.number != number {
      open.remove(last.identity)
      chain.removeLast()
    }
    chain.append((number, identity))
    guard !open.insert(identity).inserted else { return }
    let first = chain.first { $0.identity == identity }?.number ?? number
    let circle = way(from: first, to: number)
    throw failure(
      .cyclicDocument,
      "The document links to itself: \(circle.joined(separator: " → ")). Remove one of these "
        + "links.", at: documents[number].link)
  }

  /// Returns the names of the documents on the path from one document of the chain, or the
  /// top-level one, to another.
  private func way(from first: Int? = nil, to number: Int) -> [String] {
    var names: [String] = []
    var next: Int? = number
    while let number = next {
      names.append(documents[number].source.name ?? "the in-memory document")
      next = number == first ? nil : documents[number].parent
    }
    return names.reversed()
  }

  /// Returns an error about an unavailable document, located at its link, with the path to it.
  private func failure(
    _ code: ArborError.Code, _ message: String, loading number: Int
  ) -> ArborError {
    let chain = documents[number].parent == nil ? [] : way(to: number)
    return failure(code, message + Self.saying(chain), at: documents[number].link)
  }

  private func failure(
    _ code: ArborError.Code, _ message: String, at link: JSONNode?
  ) -> ArborError {
    link?.error(message, code: code) ?? ArborError(code, message)
  }

  /// Returns a sentence that describes the path to a document.
  private static func saying(_ chain: [String]) -> String {
    guard !chain.isEmpty else { return "" }
    // A very long path is abbreviated.
    let shown = chain.count > 20 ? chain.prefix(10) + ["…"] + chain.suffix(10) : chain[...]
    return " Path: \(shown.joined(separator: " → "))."
  }
}
