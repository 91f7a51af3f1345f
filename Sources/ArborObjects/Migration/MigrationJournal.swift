internal import ArborStore
internal import Foundation

/// What the copy that a migration works in says of the work: written with each of its commits, so
/// that an interrupted migration goes on behind the last one.
struct MigrationJournal: Codable, Equatable {
  enum Phase: String, Codable {
    /// Passes and code.
    case objects
    /// They are done; rules are checked and indexes filled.
    case finishing
    /// The file is of the hop's newer model.
    case done
  }

  static let key = "migration"

  /// What the migration leads from and to; another plan's files are of no use.
  let plan: String
  /// The store's transaction that was copied.
  let origin: UInt64
  var hop: Int
  var phase = Phase.objects
  /// Renames of entities that code asked for, new names by former ones.
  var renames: [String: String] = [:]
  /// How many calls of the code are done.
  var calls = 0
  /// In the one that is not: the number of the last object that is done.
  var lastDone: UInt64?
  /// How many objects of that call are done; nil in journals that do not say.
  var objectsDone: Int?
  /// The entities of the older model whose objects passed through code.
  var visited: Set<String> = []
  /// The commit that ended the hop.
  var sequence: UInt64 = 0
  /// What passes of the library have found no room for.
  var problems: [MigrationProblem] = []

  private enum CodingKeys: String, CodingKey {
    case plan, origin, hop, phase, renames, calls
    case lastDone = "place"
    case objectsDone, visited, sequence, problems
  }

  var bytes: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    // Texts and numbers only: it cannot fail.
    return (try? encoder.encode(self)).map { Array($0) } ?? []
  }
}

extension MigrationJournal {
  /// The journal of a file; nil where it has none that this library reads.
  init?(of file: StoreEngine) throws(StoreError) {
    guard let bytes = try file.metadata(Self.key),
      let journal = try? JSONDecoder().decode(Self.self, from: Data(bytes))
    else { return nil }
    self = journal
  }
}
