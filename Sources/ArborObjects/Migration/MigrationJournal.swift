internal import ArborFoundation
internal import ArborStore

/// The progress of a migration, stored with each commit in the copy that it works on, so that an
/// interrupted migration continues after the last commit.
struct MigrationJournal: Codable, Equatable {
  enum Phase: String, Codable {
    /// Passes and code are running.
    case objects
    /// Passes and code are done. Rules are being checked and indexes filled.
    case finishing
    /// The file has the hop's newer model.
    case done
  }

  static let key = "migration"

  /// The digest of the models and steps. Files of another plan are discarded.
  let plan: String
  /// The ID of the store's transaction that was copied.
  let origin: UInt64
  var hop: Int
  var phase = Phase.objects
  /// The new names of the entities that code has renamed, keyed by their former names.
  var renames: [String: String] = [:]
  /// The number of calls by the step's code that have been completed.
  var calls = 0
  /// The number of the last object that the current call has processed, or `nil` if the call hasn't
  /// written anything yet.
  var lastDone: UInt64?
  /// The number of objects that the current call has processed.
  var objectsDone = 0
  /// The entities of the older model whose objects have been passed to code.
  var visited: Set<String> = []
  /// The sequence of the commit that completed the hop.
  var sequence: UInt64 = 0
  /// The values and links that the newer model cannot hold.
  var problems: [MigrationProblem] = []

  var bytes: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    // Encoding cannot fail, because the journal contains only strings and numbers.
    return (try? encoder.encode(self)).map { Array($0) } ?? []
  }
}

extension MigrationJournal {
  /// Reads the journal of a file. Returns `nil` if the file has no journal that can be decoded.
  init?(of engine: StoreEngine) throws(StoreError) {
    guard let bytes = try engine.metadata(Self.key),
      let journal = try? JSONDecoder().decode(Self.self, from: Data(bytes))
    else { return nil }
    self = journal
  }
}
