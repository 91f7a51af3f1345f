public import ArborModel
internal import ArborStore

/// What ``PersistentStore/salvage(_:to:model:)`` brought into the new store, and what it did not.
///
/// ```swift
/// let report = try PersistentStore.salvage(damaged, to: rescued)
/// print(report)
/// for entity in report.entities where entity.lost != 0 { … }
/// ```
///
/// As text it has a line for each entity and each thing that is lost; ``json`` has the same.
public struct SalvageReport: Sendable, Hashable {
  /// Which state of the damaged store was read.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// That of the last commit.
    case newest
    /// That of the only root page that leads to one: it may be of the commit before the last.
    /// What is newer on other pages is doubtful.
    case previous
    /// The newest that a page tells of. Both root pages are damaged, so that nothing says whether a
    /// later one is lost.
    case withoutRoot
    /// Nothing tells which pages belong together: every object is doubtful.
    case unknown
  }

  /// What became of the objects of one entity.
  public struct Entity: Sendable, Hashable {
    /// The entity's name.
    public let name: String
    /// Objects that are in the new store as the state has them.
    public let kept: Int
    /// Objects that are in the new store and may be out of date or deleted; see
    /// ``SalvageReport/doubtful``.
    public let doubtful: Int
    /// How many objects more the state has; nil where it no longer tells how many it has.
    ///
    /// Doubtful objects count as some of those that are missing, since they were found where the
    /// missing ones lay.
    public let lost: Int?
  }

  /// A link that the damaged store has, or had, and the new one has not.
  public struct LostLink: Sendable, Hashable {
    /// The object that had the link.
    public let owner: ObjectID
    /// The name of its relationship.
    public let relationship: String
    /// The object that it led to.
    public let target: ObjectID
  }

  /// A large binary whose bytes are lost: nil in the new store, or empty where it must have a
  /// value.
  public struct LostBinary: Sendable, Hashable {
    /// The object that had it.
    public let owner: ObjectID
    /// The name of its attribute.
    public let attribute: String
  }

  /// Each list has so many elements at most; the counts beside them count all.
  public static let maximumListed = SalvageOutcome.maximumListed

  /// Which state was read.
  public let state: State
  /// The commit sequence of the newest header that was found; nil for none.
  public let sequence: UInt64?
  /// Whether that is the sequence of the last commit for certain: false where a later header may be
  /// lost.
  public let isSequenceCertain: Bool
  /// The concrete entities, by name.
  public let entities: [Entity]
  /// The doubtful objects: their records lie on pages that the state lists as free, or of which
  /// nothing tells whether they belong to it. Look at them, and delete what should not be there.
  public let doubtful: [ObjectID]
  /// How many objects were left out.
  public let leftOutCount: Int
  /// Objects that were found and left out, since another object has a value of theirs that must be
  /// unique: one of the two is out of date, and a doubtful one goes first.
  public let leftOut: [ObjectID]
  /// How many links are lost.
  public let lostLinkCount: Int
  /// The links that are lost.
  public let lostLinks: [LostLink]
  /// How many large binaries are lost.
  public let lostBinaryCount: Int
  /// The large binaries that are lost.
  public let lostBinaries: [LostBinary]
  /// The keys of metadata that may be out of date or damaged: it has no checksum.
  public let doubtfulMetadata: [String]
  /// Whether the file no longer holds its model, so that the given one was taken.
  public let isModelGiven: Bool
  /// Whether the file no longer holds its catalogue, so that the numbers of a store that was never
  /// migrated were taken.
  public let isCatalogMade: Bool
  /// Whether the counter of unique IDs is lost, so that they go on above 2⁴⁸.
  public let isUniqueIDLost: Bool

  init(_ result: SalvageResult) {
    let outcome = result.outcome
    func objectID(_ number: ObjectNumber) -> ObjectID {
      ObjectID(
        storeID: result.storeID,
        entityName: result.schema.entity(of: number)?.name ?? "entity \(number.entity)",
        number: number.sequence)
    }
    state = State(rawValue: outcome.state.rawValue) ?? .unknown
    sequence = outcome.sequence
    isSequenceCertain = outcome.isHeaderCertain
    entities = outcome.entities.map {
      Entity(name: $0.name, kept: $0.kept, doubtful: $0.doubtful, lost: $0.lost)
    }
    doubtful = outcome.doubtful.map(objectID)
    leftOutCount = outcome.leftOutCount
    leftOut = outcome.leftOut.map(objectID)
    lostLinkCount = outcome.lostLinkCount
    lostLinks = outcome.lostLinks.map {
      LostLink(
        owner: objectID($0.owner), relationship: $0.relationship, target: objectID($0.target))
    }
    lostBinaryCount = outcome.lostBinaryCount
    lostBinaries = outcome.lostBinaries.map {
      LostBinary(owner: objectID($0.owner), attribute: $0.attribute)
    }
    doubtfulMetadata = outcome.doubtfulMetadata
    isModelGiven = outcome.model == .given
    isCatalogMade = outcome.isCatalogMade
    isUniqueIDLost = outcome.isUniqueIDLost
  }

  /// Whether the new store has everything that the state has, as far as that can be told.
  public var isComplete: Bool {
    state == .newest && isSequenceCertain && !isCatalogMade && leftOutCount == 0
      && lostLinkCount == 0 && lostBinaryCount == 0 && doubtfulMetadata.isEmpty && !isUniqueIDLost
      && entities.allSatisfy { $0.lost == 0 && $0.doubtful == 0 }
  }
}

extension SalvageReport: CustomStringConvertible {
  /// The report in lines of text. Characters of names and keys that would begin a line, or that a
  /// terminal would obey, are written as `\n` and `\u{1B}`.
  public var description: String {
    var lines = [stateSentence]
    func addRest(_ count: Int, _ what: String) {
      if count > 0 { lines.append("and \(count) \(what) more") }
    }
    if state == .newest, !isSequenceCertain {
      lines.append("A later header may be lost, so this may not be the number of the last commit.")
    }
    for entity in entities {
      let lost = entity.lost.map { "\($0) lost" } ?? "an unknown number lost"
      lines.append(
        "\(escaped(entity.name)): \(entity.kept) kept, \(entity.doubtful) doubtful, \(lost)")
    }
    lines += doubtful.map { "doubtful: \(Self.name($0))" }
    addRest(entities.reduce(0) { $0 + $1.doubtful } - doubtful.count, "doubtful objects")
    lines += leftOut.map { "left out: \(Self.name($0))" }
    addRest(leftOutCount - leftOut.count, "left out")
    lines += lostLinks.map {
      "lost link: \(Self.name($0.owner)).\(escaped($0.relationship)) to \(Self.name($0.target))"
    }
    addRest(lostLinkCount - lostLinks.count, "lost links")
    lines += lostBinaries.map {
      "lost binary: \(Self.name($0.owner)).\(escaped($0.attribute))"
    }
    addRest(lostBinaryCount - lostBinaries.count, "lost binaries")
    lines += doubtfulMetadata.map { "doubtful metadata: \(escaped($0))" }
    if isModelGiven {
      lines.append(
        "The file no longer contains its model. The given model was used.")
    }
    if isCatalogMade {
      lines.append("The file no longer contains its catalog. That of a new store was used.")
    }
    if isUniqueIDLost {
      lines.append("The counter of unique IDs is lost. They continue above 2^48.")
    }
    return lines.joined(separator: "\n")
  }

  private var stateSentence: String {
    let commit = sequence.map { "commit \($0)" } ?? "an unknown commit"
    return switch state {
    case .newest: "Read the newest state, from \(commit)."
    case .previous: "Read the state of one root page, from \(commit). A later one may be lost."
    case .withoutRoot:
      "Read the newest state that a page refers to, from \(commit). A later one may be lost."
    case .unknown: "Read single pages. Which of them belong together is unknown."
    }
  }

  private static func name(_ id: ObjectID) -> String { "\(escaped(id.entityName)) \(id.number)" }
}

/// A name or key of the damaged file, which stays on its line.
private func escaped(_ text: String) -> String { TerminalText.escaped(text) }
