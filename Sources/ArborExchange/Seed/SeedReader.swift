import ArborModel
import Foundation

/// Reads the documents of a seed into a plan: the top documents and everything that they link to.
///
/// Linked documents wait on a list rather than on the stack, for links nest as deep as they like.
/// What one document creates is one group of the plan: group *n* belongs to document *n*.
struct SeedReader {
  /// A document that is to be read, or has been.
  private struct Document {
    let folder: SeedFolder
    /// The way from the folder to the document.
    let way: [String]
    /// The link that led here; nil for a top document.
    let link: JSONNode?
    /// The number of the linking document.
    let parent: Int?

    var path: String { folder.path(of: way) }
  }

  let schema: ExchangeSchema
  let attributes: AttributeReader
  let options: SeedOptions
  var plan = ExchangePlan()
  /// The number of the document that is being read.
  private var present = 0
  /// By their numbers, which are given when a link is met.
  private var documents: [Document] = []
  /// In the order of reading.
  private(set) var documentsRead: [URL] = []
  private var waiting: [Int] = []
  /// The documents from the top one to the present one.
  private var chain: [(number: Int, identity: SeedFile.Identity)] = []
  /// The files of the chain.
  private var open: Set<SeedFile.Identity> = []
  private var size = 0

  init(schema: ExchangeSchema, options: SeedOptions) {
    self.schema = schema
    self.options = options
    attributes = AttributeReader(schema)
  }

  /// Reads a top document and all it links to.
  ///
  /// - Returns: What the document creates.
  mutating func read(_ url: URL) throws(ArborError) -> PlannedSource {
    guard url.isFileURL else { throw Self.remoteUnsupported }
    let (folder, way) = try SeedFolder.containing(url, root: options.root)
    let top = try add(Document(folder: folder, way: way, link: nil, parent: nil))
    waiting = [top]
    while let number = waiting.popLast() {
      present = number
      let document = try load(number)
      documentsRead.append(URL(filePath: documents[number].path))
      let firstLinked = documents.count
      plan.groups[number] = try sources(ofDocument: document.root)
      // The last on the list is read first.
      waiting.append(contentsOf: (firstLinked..<documents.count).reversed())
    }
    return .group(top)
  }

  /// Puts the document of a link on the list.
  ///
  /// - Returns: What the document will create.
  mutating func follow(_ link: JSONNode, to name: String) throws(ArborError) -> PlannedSource {
    let document = documents[present]
    let way = try document.folder.way(to: name, from: document.way, link: link)
    let linked = Document(folder: document.folder, way: way, link: link, parent: present)
    return .group(try add(linked))
  }

  private mutating func add(_ document: Document) throws(ArborError) -> Int {
    guard documents.count < options.maximumDocuments else {
      throw Self.error(
        .limitExceeded,
        "The seed has more than \(options.maximumDocuments) documents; link fewer, or raise "
          + "maximumDocuments.", at: document.link)
    }
    documents.append(document)
    plan.groups.append([])
    return documents.count - 1
  }

  private mutating func load(_ number: Int) throws(ArborError) -> JSONDocument {
    let document = documents[number]
    let isLinked = document.link != nil || options.root != nil
    let file: SeedFile
    do throws(SeedFile.Problem) {
      file = try SeedFile(
        path: document.path, within: isLinked ? document.folder.path : nil,
        limit: options.maximumSize - size)
    } catch {
      throw Self.error(for: error, path: document.path, options, at: document.link)
    }
    try enter(number, file.identity)
    size += file.data.count
    var limits = JSONLimits()
    limits.maximumSize = options.maximumSize
    return try JSONDocument(file.data, source: document.path, limits: limits)
  }

  /// Goes on to a document, from one that has been read. A document that links to itself, over
  /// however many others, would never end.
  private mutating func enter(_ number: Int, _ identity: SeedFile.Identity) throws(ArborError) {
    // Documents are read depth first, so the linking one is still on the way here.
    while let last = chain.last, last.number != documents[number].parent {
      open.remove(last.identity)
      chain.removeLast()
    }
    chain.append((number, identity))
    guard !open.insert(identity).inserted else { return }
    let paths = chain.drop { $0.identity != identity }.map { documents[$0.number].path }
    throw Self.error(
      .invalidDocument,
      "The document links to itself: \(paths.joined(separator: " → ")). Remove one of these links.",
      at: documents[number].link)
  }

  static var remoteUnsupported: ArborError {
    ArborError(
      .notAllowed,
      "This version seeds from files only; save the document as a file and link it by seedFile.")
  }

  private static func error(
    for problem: SeedFile.Problem, path: String, _ options: SeedOptions, at link: JSONNode?
  ) -> ArborError {
    switch problem {
    case .missing:
      error(.fileUnreadable, "There is no file \(path); write it or correct its name.", at: link)
    case .unreadable(let code):
      error(
        .fileUnreadable, "The file \(path) cannot be read (error \(code)); check its permissions.",
        at: link)
    case .notAFile:
      error(.fileUnreadable, "\(path) is no regular file; name a file that holds JSON.", at: link)
    case .outside:
      error(
        .notAllowed,
        "The file \(path) leads out of the folder that the seed may reach; move it there, or name "
          + "a root folder in the options.", at: link)
    case .tooLarge:
      error(
        .limitExceeded,
        "With \(path) the seed exceeds \(options.maximumSize) bytes; split it, or raise "
          + "maximumSize.", at: link)
    }
  }

  private static func error(
    _ code: ArborError.Code, _ message: String, at link: JSONNode?
  ) -> ArborError {
    link?.error(message, code: code) ?? ArborError(code, message)
  }
}
