/// Verifies the pages of a data file by plain reads, before anything maps them.
///
/// liblmdb trusts its file: a damaged page ends the process by a signal, or gives wrong data
/// without an error. This checks everything that liblmdb relies on: every page belongs to exactly
/// one tree or is listed as free exactly once; the nodes of a page fill it without overlap;
/// keys ascend, between the separators above them; every leaf of a tree is equally deep; the
/// counters are right.
/// What is inside the values is not its business.
///
/// What throws ``LMDBError/damaged(_:)`` does so with the first finding.
///
/// Nothing here trusts the file. Each page is visited once and the depth is bounded, so it comes
/// to an end; the memory is one bit for each page of the file and one page for each level of
/// the trees.
struct PageVerifier: ~Copyable {
  /// What a sound file consists of.
  struct Report {
    /// By name.
    var databases: [String: DatabaseFlags] = [:]
  }

  /// How far a verification follows what a page says of others.
  enum Scope {
    /// To every page of the trees that it visits, and of the trees in their entries.
    case trees
    /// As ``trees``, but the leaves of databases are only accounted for: what their entries lead to
    /// is not met.
    case branches
    /// To the pages of the tree that it visits.
    case tree
    /// Not at all: the page alone is verified, and others when they are used.
    case page
  }

  let descriptor: Int32
  let meta: MetaPage
  let pageSize: Int
  let lastPage: UInt64
  private(set) var scope: Scope
  private let isCancelled: () -> Bool
  private var claims: PageClaims
  /// How many branches may still be read in the scope ``Scope/branches``.
  var branchesLeft = Self.mostBranches
  var buffers: PageBuffers
  var report = Report()

  /// A tree of names with more pages is not verified before it is used.
  fileprivate static let mostPagesOfNames = 256
  /// More missing pages than this are never the leftover of a transaction.
  private static let mostMissing: UInt64 = 1 << 24
  /// The branches that a verification of branches alone reads at most.
  private static let mostBranches: UInt64 = 1024
  /// More names than this are not remembered: nobody opens so many databases.
  static let mostDatabases = 1 << 16

  /// - Parameters:
  ///   - meta: the root page of the state to verify. Its pages must not be written meanwhile.
  ///   - isCancelled: asked at every page; true ends the verification with ``LMDBError/closed``.
  init(
    descriptor: Int32, meta: MetaPage, isCancelled: @escaping () -> Bool = { false }
  ) throws(LMDBError) {
    let (held, last) = (try meta.heldPages(descriptor), meta.lastPage)
    guard last <= held + Self.mostMissing, last < UInt64(Int.max / meta.pageSize) else {
      throw .damaged(
        PageFinding(
          page: meta.number, database: nil,
          what: "it has \(last) pages, but the file has \(held)"))
    }
    self.init(
      descriptor: descriptor, meta: meta, scope: .trees, claiming: last, isCancelled: isCancelled)
  }

  /// A verifier of single pages, which are in memory already.
  ///
  /// - Parameter meta: the root page of any state: the file's page size is taken from it.
  init(pagesOf meta: MetaPage) {
    self.init(descriptor: -1, meta: meta, scope: .page) { false }
  }

  private init(
    descriptor: Int32, meta: MetaPage, scope: Scope, claiming lastClaimed: UInt64 = 0,
    isCancelled: @escaping () -> Bool
  ) {
    self.descriptor = descriptor
    self.meta = meta
    self.scope = scope
    self.isCancelled = isCancelled
    pageSize = meta.pageSize
    lastPage = meta.lastPage
    claims = PageClaims(lastPage: lastClaimed)
    buffers = PageBuffers(pageSize: pageSize)
  }

  /// Verifies the tree of the databases' names as a whole, unless it is larger than that of any
  /// store: then the file is of another program, which keeps its data there.
  static func verifyNames(_ descriptor: Int32, _ meta: MetaPage) throws(LMDBError) {
    var remaining = mostPagesOfNames
    var verifier = PageVerifier(descriptor: descriptor, meta: meta, scope: .tree) {
      remaining -= 1
      return remaining < 0
    }
    var main = TreeTraversal(.main, "of names", meta.main, rootLevel: 0)
    do throws(LMDBError) { try verifier.visit(&main) } catch {
      if error != .closed { throw error }
      if meta.hasFewNames {
        throw verifier.damage(main, nil, "its page counts don't match")
      }
    }
  }

  mutating func verifyFreeLists() throws(LMDBError) {
    var free = TreeTraversal(.free, "of free pages", meta.free, rootLevel: 0)
    try visit(&free)
  }

  /// Ends the verification; returns the pages that it has met.
  consuming func takeClaims() -> PageClaims { claims }

  /// Verifies that no page is listed as free to which a branch of a database's tree leads, or the
  /// tree of names. Of large files as many databases as the branches to be read allow: a branch
  /// leads to about a hundred pages.
  mutating func verifyBranches() throws(LMDBError) {
    let names = meta.main
    guard names.leafPages < Self.mostPagesOfNames, names.branchPages < Self.mostPagesOfNames else {
      return
    }
    scope = .branches
    var main = TreeTraversal(.main, "of names", names, rootLevel: 0)
    try visit(&main)
  }

  /// Verifies every page of the state.
  mutating func verify() throws(LMDBError) -> Report {
    try verifyFreeLists()
    var main = TreeTraversal(.main, "of names", meta.main, rootLevel: 0)
    try visit(&main)
    // Each page was claimed at most once.
    if claims.count != lastPage - 1, let page = claims.firstUnclaimed(in: 2...lastPage) {
      throw .damaged(
        PageFinding(page: page, database: nil, what: "it is neither used nor listed as free"))
    }
    return report
  }

  /// Whether the file lists every page from `first` to the last as free.
  mutating func listsAsFree(from first: UInt64) throws(LMDBError) -> Bool {
    try verifyFreeLists()
    return claims.firstUnclaimed(in: first...lastPage) == nil
  }

  /// Accounts for a page. Nothing else may claim it.
  mutating func claim(_ page: UInt64, _ tree: TreeTraversal) throws(LMDBError) {
    guard page >= 2, page <= lastPage else {
      throw damage(tree, page, Self.outsideComplaint(lastPage: lastPage))
    }
    let isAlone = scope == .tree || scope == .page
    guard isAlone || claims.insert(page) else { throw damage(tree, page, "it is used twice") }
  }

  /// What is wrong with a page that no tree of the file can have.
  static func outsideComplaint(lastPage: UInt64) -> String {
    "it is outside the file's pages 2 to \(lastPage)"
  }

  /// Claims a page and reads it; it is valid until the next page of this level.
  mutating func fetch(
    _ page: UInt64, _ tree: TreeTraversal, level: Int
  ) throws(LMDBError) -> RawPage {
    if isCancelled() { throw .closed }
    try claim(page, tree)
    let buffer = buffers.page(level: level)
    guard try readFully(descriptor, buffer, at: Int(page) * pageSize) == pageSize else {
      throw damage(tree, page, "it is past the end of the file")
    }
    return RawPage(bytes: UnsafeRawBufferPointer(buffer))
  }

  func damage(_ tree: TreeTraversal, _ page: UInt64?, _ what: String) -> LMDBError {
    .damaged(PageFinding(page: page, database: tree.name, what: what))
  }
}

extension MetaPage {
  /// Whether the tree of the databases' names is no larger than that of a store, so that
  /// ``PageVerifier/verifyNames(_:_:)`` verifies all of it.
  var hasFewNames: Bool {
    let most = UInt64(PageVerifier.mostPagesOfNames)
    // What a damaged page says may be any number.
    return main.branchPages < most && main.leafPages <= most - main.branchPages
  }
}

/// What the verification of a data file's pages found, and where.
package struct PageFinding: Sendable, Hashable, CustomStringConvertible {
  /// The page; nil where the whole file or database is meant.
  package let page: UInt64?
  /// The database that leads to the page; nil for what belongs to none.
  package let database: String?
  /// What is wrong, in a clause about the page or the database.
  package let what: String

  package var description: String {
    var parts: [String] = []
    if let page { parts.append("page \(page)") }
    if let database { parts.append("database \(database)") }
    let text = parts.isEmpty ? what : parts.joined(separator: ", ") + ": " + what
    return text.prefix(1).uppercased() + text.dropFirst() + "."
  }
}
