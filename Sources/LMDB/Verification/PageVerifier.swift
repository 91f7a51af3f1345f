/// Verifies the pages of a data file without mapping it.
///
/// liblmdb trusts its file: a damaged page crashes the process, or returns wrong data without an
/// error. This checks everything that liblmdb relies on: every page belongs to exactly one tree or
/// is listed as free exactly once; the nodes of a page fill it without overlap; keys ascend and are
/// within the separators above them; all leaves of a tree have the same depth; the counters are
/// correct. The contents of values are not checked.
///
/// Functions that throw ``LMDBError/damaged(_:)`` do so for the first finding.
///
/// Nothing in the file is trusted. Each page is visited once and the depth is bounded, so the
/// verification terminates. Memory use is one bit per page of the file and one page per level of
/// the trees.
struct PageVerifier: ~Copyable {
  /// The contents of an undamaged file.
  struct Report {
    /// The flags of the databases by name.
    var databases: [String: DatabaseFlags] = [:]
  }

  /// The extent to which a verification follows references to other pages.
  enum Scope {
    /// All pages of the visited trees and of nested trees are verified.
    case trees
    /// Like ``trees``, but the leaf pages of databases are only accounted for, without following
    /// their entries.
    case branches
    /// Only the pages of the visited tree are verified.
    case tree
    /// Only the page itself is verified. Other pages are verified when they are used.
    case page
  }

  let descriptor: Int32
  let meta: MetaPage
  let pageSize: Int
  let lastPage: UInt64
  private(set) var scope: Scope
  private let isCancelled: () -> Bool
  private var claims: PageClaims
  /// The number of branch pages that may still be read in the scope ``Scope/branches``.
  var branchesLeft = Self.maximumBranchPages
  var buffers: PageBuffers
  var report = Report()

  /// The maximum number of pages of a name tree that is verified in advance.
  fileprivate static let maximumNamePages = 256
  /// The maximum number of missing pages. Transactions never leave more.
  private static let maximumMissingPages: UInt64 = 1 << 24
  /// The maximum number of branch pages to read in the scope ``Scope/branches``.
  private static let maximumBranchPages: UInt64 = 1024
  /// The maximum number of names to keep. Programs don't open more databases.
  static let maximumDatabaseCount = 1 << 16

  /// - Parameters:
  ///   - meta: The root page of the state to verify. Its pages must not be overwritten meanwhile.
  ///   - isCancelled: Called for every page. The verification ends with ``LMDBError/closed`` once
  ///     it returns `true`.
  init(
    descriptor: Int32, meta: MetaPage, isCancelled: @escaping () -> Bool = { false }
  ) throws(LMDBError) {
    let (held, last) = (try meta.heldPages(descriptor), meta.lastPage)
    guard last <= held + Self.maximumMissingPages, last < UInt64(Int.max / meta.pageSize) else {
      throw .damaged(
        PageFinding(
          page: meta.number, database: nil,
          what: "its last page is \(last), but the file has only \(held) pages"))
    }
    self.init(
      descriptor: descriptor, meta: meta, scope: .trees, claiming: last, isCancelled: isCancelled)
  }

  /// Creates a verifier for single pages that are already in memory.
  ///
  /// - Parameter meta: The root page of any state, which determines the page size.
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

  /// Verifies the complete name tree, unless it is larger than that of any store. In that case, the
  /// file belongs to another program that keeps its data there.
  static func verifyNames(_ descriptor: Int32, _ meta: MetaPage) throws(LMDBError) {
    var remaining = maximumNamePages
    var verifier = PageVerifier(descriptor: descriptor, meta: meta, scope: .tree) {
      remaining -= 1
      return remaining < 0
    }
    var main = TreeTraversal(.main, "of names", meta.main, rootLevel: 0)
    do throws(LMDBError) { try verifier.visit(&main) } catch {
      if error != .closed { throw error }
      if meta.hasFewNames {
        throw verifier.damage(
          main, nil,
          "it has more than \(maximumNamePages) pages, but its page counts are "
            + "\(meta.main.branchPages) branch and \(meta.main.leafPages) leaf pages")
      }
    }
  }

  mutating func verifyFreeLists() throws(LMDBError) {
    var free = TreeTraversal(.free, "of free pages", meta.free, rootLevel: 0)
    try visit(&free)
  }

  /// Ends the verification and returns the visited pages.
  consuming func takeClaims() -> PageClaims { claims }

  /// Verifies that no page that the branch pages of a database's tree or of the name tree refer to
  /// is listed as free. In large files, this covers as many databases as the limit of branch pages
  /// permits; each of these refers to about a hundred pages.
  mutating func verifyBranches() throws(LMDBError) {
    let names = meta.main
    guard names.leafPages < Self.maximumNamePages, names.branchPages < Self.maximumNamePages else {
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

  /// Returns whether the file lists every page from `first` to the last as free.
  mutating func listsAsFree(from first: UInt64) throws(LMDBError) -> Bool {
    try verifyFreeLists()
    return claims.firstUnclaimed(in: first...lastPage) == nil
  }

  /// Claims a page. Throws if it has already been claimed.
  mutating func claim(_ page: UInt64, _ tree: TreeTraversal) throws(LMDBError) {
    guard page >= 2, page <= lastPage else {
      throw damage(tree, page, Self.outsideComplaint(lastPage: lastPage))
    }
    let isAlone = scope == .tree || scope == .page
    guard isAlone || claims.insert(page) else { throw damage(tree, page, "it is used twice") }
  }

  /// Returns the description of a page number that is out of bounds.
  static func outsideComplaint(lastPage: UInt64) -> String {
    "it is outside the file's pages 2 to \(lastPage)"
  }

  /// Claims and reads a page. It is valid until the next page of this level.
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
  /// Whether the name tree is no larger than that of a store, so that
  /// ``PageVerifier/verifyNames(_:_:)`` verifies all of it.
  var hasFewNames: Bool {
    let most = UInt64(PageVerifier.maximumNamePages)
    // A damaged page may contain any number.
    return main.branchPages < most && main.leafPages <= most - main.branchPages
  }
}

/// A finding of the page verification, with its location.
@usableFromInline
package struct PageFinding: Sendable, Hashable, CustomStringConvertible {
  /// The number of the page, or `nil` if the finding is about the whole file or database.
  package let page: UInt64?
  /// The database that contains the page, or `nil` if none does.
  package let database: String?
  /// The damage, as a clause about the page or the database.
  package let what: String

  @usableFromInline
  package var description: String {
    var parts: [String] = []
    if let page { parts.append("page \(page)") }
    if let database { parts.append("database \(database)") }
    let text = parts.isEmpty ? what : parts.joined(separator: ", ") + ": " + what
    return text.prefix(1).uppercased() + text.dropFirst() + "."
  }
}
