public import ArborFoundation
public import ArborModel
internal import ArborStore

/// A position in the history of a store: the end of one of its commits.
///
/// A program stores the token of the last commit that it has processed, and continues there after a
/// restart, with ``PersistentStore/changes(since:)`` or ``PersistentStore/commits(after:limit:)``. A
/// token is also valid in other copies of the store that have the commit: followers, stores that
/// share a log, and restored backups.
///
/// ```swift
/// var token = try JSONDecoder().decode(HistoryToken.self, from: saved)
/// ```
public struct HistoryToken: Sendable, Hashable, LosslessStringConvertible {
  /// The identity of the store.
  public let storeID: UUID
  /// The sequence of the commit; 0 for the beginning of a store without commits.
  public let sequence: UInt64
  /// The checksum of the commit's record in the history, by which the commit is recognized; 0 if
  /// it is unknown.
  private let checksum: UInt32

  init(storeID: UUID, sequence: UInt64, checksum: UInt32) {
    (self.storeID, self.sequence, self.checksum) = (storeID, sequence, checksum)
  }

  /// The token as text, for example to send it to another process.
  public var description: String {
    "\(storeID.uuidString)/\(sequence)/\(String(checksum, radix: 16))"
  }

  /// Creates a token from its ``description``.
  ///
  /// - Returns: `nil` for other text.
  public init?(_ description: String) {
    let parts = description.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, let storeID = UUID(uuidString: String(parts[0])),
      let sequence = UInt64(parts[1]), let checksum = UInt32(parts[2], radix: 16)
    else { return nil }
    self.init(storeID: storeID, sequence: sequence, checksum: checksum)
    guard self.description == description else { return nil }
  }
}

/// Encoded as a single string, the ``description``.
extension HistoryToken: Codable {
  /// Encodes the token as text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  /// Decodes a token from text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let token = HistoryToken(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "Expected the text of a HistoryToken.")
    }
    self = token
  }
}

extension HistoryToken {
  /// Creates the token of a commit that is in a snapshot.
  init(_ sequence: UInt64, in snapshot: StoreSnapshot) throws(StoreError) {
    self.init(
      storeID: snapshot.store.id, sequence: sequence,
      checksum: try snapshot.historyChecksum(of: sequence) ?? 0)
  }

  /// Throws if the commits after the token are not in the history of a snapshot.
  func check(in snapshot: StoreSnapshot) throws {
    let store = snapshot.store
    guard storeID == store.id else {
      throw ArborError(
        .invalidArgument,
        "The history token is from the store \(storeID.uuidString), but this is the store "
          + "\(store.id.uuidString). Use a token of this store.")
    }
    let found = try snapshot.historyChecksum(of: sequence)
    guard sequence <= snapshot.sequence, found == nil || checksum == 0 || found == checksum else {
      throw ArborError(
        .forked,
        "The store doesn't have commit \(sequence) of the history token, or has a different commit "
          + "with that number, because it was restored or replaced. Read all data again, and "
          + "continue with a new token.")
    }
    guard case .tooOld = try snapshot.nextEntry(after: sequence) else { return }
    let oldest = try snapshot.oldestCommit() ?? snapshot.sequence + 1
    var error = ArborError(
      .historyTrimmed,
      "The history no longer contains commit \(sequence + 1), which follows the token. The oldest "
        + "commit in it is \(oldest). Read all data again, and continue with a new token.")
    error.oldestSequence = oldest
    throw error
  }
}

extension PersistentStore {
  /// Returns the token of the store's newest commit.
  ///
  /// Take it before reading the data that later changes are applied to, so that no commit is missed.
  ///
  /// ```swift
  /// let token = try store.currentHistoryToken()
  /// try copyEverything(from: store)
  /// for await changes in try store.changes(since: token) { … }
  /// ```
  ///
  /// - Throws: ``ArborError`` `closed`, `corrupted`, `modelChanged`.
  public func currentHistoryToken() throws(ArborError) -> HistoryToken {
    try withHistory { try HistoryToken($0.sequence, in: $0) }
  }

  /// Every commit to the store after a token, in order and exactly once: first those in the history,
  /// then new ones as in ``changes``.
  ///
  /// The history contains at least the last 1000 commits, including those made while this process
  /// was not running. Save the ``CommittedChanges/token`` of each element once it is processed, and
  /// pass it after a restart.
  ///
  /// ```swift
  /// for await changes in try store.changes(since: token) {
  ///   guard changes.isComplete else { reloadAll(); continue }
  ///   try index.apply(changes)
  ///   try save(changes.token)
  /// }
  /// ```
  ///
  /// - Throws: ``ArborError`` `historyTrimmed` if the history no longer contains the commit after
  ///   the token, with the oldest one as ``ArborError/oldestSequence``; `forked` if the store
  ///   doesn't have the token's commit, because it was restored to an earlier one; `invalidArgument`
  ///   for a token of another store; `closed`, `corrupted`, `modelChanged`.
  public func changes(
    since token: HistoryToken
  ) throws(ArborError) -> some AsyncSequence<CommittedChanges, Never> & Sendable {
    // Listens before it looks, so that no commit in between is missed.
    let follower = StoreFollower(news, since: token.sequence)
    try withHistory { try token.check(in: $0) }
    return StoreChanges(follower: follower)
  }

  /// Returns the commits after a token, oldest first.
  ///
  /// ```swift
  /// let imports = try store.commits(after: token).filter { $0.author == "importer" }
  /// ```
  ///
  /// - Parameters:
  ///   - token: The token after which to begin, or `nil` to begin with the oldest commit in the
  ///     history.
  ///   - limit: The maximum number of commits to return. Continue with the token of the last one.
  /// - Returns: An empty array if there are no later commits.
  /// - Throws: The same errors as ``changes(since:)``; `invalidArgument` for a negative limit.
  public func commits(
    after token: HistoryToken?, limit: Int = .max
  ) throws(ArborError) -> [CommittedChanges] {
    guard limit >= 0 else {
      throw ArborError(
        .invalidArgument, "The limit of \(limit) commits is negative. Use at least 0.")
    }
    return try withHistory { snapshot in
      try token?.check(in: snapshot)
      let oldest = try snapshot.oldestCommit() ?? snapshot.sequence + 1
      var last = token?.sequence ?? oldest - 1
      var commits: [CommittedChanges] = []
      while commits.count < limit, case .entry(let entry) = try snapshot.nextEntry(after: last) {
        last = entry.sequence
        commits.append(
          CommittedChanges(entry, try HistoryToken(last, in: snapshot), in: engine))
      }
      return commits
    }
  }

  private func withHistory<R>(_ body: (StoreSnapshot) throws -> R) throws(ArborError) -> R {
    try requireOpen()
    return try logging {
      let snapshot = try engine.snapshot()
      defer { snapshot.close() }
      return try body(snapshot)
    }
  }
}
