public import ArborModel
internal import ArborStore

/// A report of the data that ``PersistentStore/salvage(_:to:model:)`` recovered and lost.
///
/// ```swift
/// let report = try PersistentStore.salvage(damaged, to: rescued)
/// print(report)
/// for entity in report.entities where entity.lost != 0 { … }
/// ```
///
/// Its description has a line for each entity and each lost item. ``json`` contains the same
/// information.
public struct SalvageReport: Sendable, Hashable {
  /// The state of the damaged store that was read.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// The state of the last commit.
    case newest
    /// The state referenced by the only usable root page, which may be that of the commit before
    /// the last. Newer data on other pages is doubtful.
    case previous
    /// The newest state referenced by any page. Both root pages are damaged, so it is unknown
    /// whether a later state is lost.
    case withoutRoot
    /// No information is left about which pages belong together. Every object is doubtful.
    case unknown
  }

  /// The recovered and lost objects of one entity.
  public struct Entity: Sendable, Hashable {
    /// The entity's name.
    public let name: String
    /// The number of objects that were recovered exactly as they are in that state.
    public let kept: Int
    /// The number of objects that were recovered but may be outdated or deleted. See
    /// ``SalvageReport/doubtful``.
    public let doubtful: Int
    /// The number of objects in the state that were not recovered, or `nil` if the number of
    /// objects in the state is unknown.
    ///
    /// Doubtful objects don't count as lost, because they were found where the missing objects were
    /// stored.
    public let lost: Int?
  }

  /// A link of the damaged store that is missing from the new one.
  public struct LostLink: Sendable, Hashable {
    /// The object that had the link.
    public let owner: ObjectID
    /// The name of the owner's relationship.
    public let relationship: String
    /// The object the link pointed to.
    public let target: ObjectID
  }

  /// A large binary value whose data is lost. The attribute is `nil` in the new store, or empty if
  /// it is required.
  public struct LostBinary: Sendable, Hashable {
    /// The object that had the value.
    public let owner: ObjectID
    /// The name of the owner's attribute.
    public let attribute: String
  }

  /// The maximum number of elements in each list. The corresponding counts aren't limited.
  public static let maximumListed = SalvageOutcome.maximumListed

  /// The state that was read.
  public let state: State
  /// The commit sequence in the newest header, or `nil` if no header was found.
  public let sequence: UInt64?
  /// A Boolean value that indicates whether ``sequence`` is certainly that of the last commit.
  /// `false` if a later header may be lost.
  public let isSequenceCertain: Bool
  /// The concrete entities, sorted by name.
  public let entities: [Entity]
  /// The doubtful objects: their records are on pages that are listed as free in the state, or that
  /// cannot be attributed to it. Inspect them and delete those that should not exist.
  public let doubtful: [ObjectID]
  /// The number of omitted objects.
  public let leftOutCount: Int
  /// Objects that were found but omitted, because another object has the same unique value. One of
  /// the two is outdated; doubtful objects are omitted first.
  public let leftOut: [ObjectID]
  /// The number of lost links.
  public let lostLinkCount: Int
  /// The lost links.
  public let lostLinks: [LostLink]
  /// The number of lost large binaries.
  public let lostBinaryCount: Int
  /// The lost large binaries.
  public let lostBinaries: [LostBinary]
  /// The keys of metadata that may be outdated or damaged. Metadata has no checksum.
  public let doubtfulMetadata: [String]
  /// A Boolean value that indicates whether the file no longer contains its model, so that the
  /// given one was used.
  public let isModelGiven: Bool
  /// A Boolean value that indicates whether the file no longer contains its catalog, so that the
  /// numbering of a store that was never migrated was assumed.
  public let isCatalogMade: Bool
  /// A Boolean value that indicates whether the counter of unique IDs is lost, so that it continues
  /// above 2⁴⁸.
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

  /// A Boolean value that indicates whether the new store has all data of the state, as far as can
  /// be determined.
  public var isComplete: Bool {
    state == .newest && isSequenceCertain && !isCatalogMade && leftOutCount == 0
      && lostLinkCount == 0 && lostBinaryCount == 0 && doubtfulMetadata.isEmpty && !isUniqueIDLost
      && entities.allSatisfy { $0.lost == 0 && $0.doubtful == 0 }
  }
}

extension SalvageReport: CustomStringConvertible {
  /// The report as lines of text. Control and line-breaking characters in names and keys are
  /// escaped, for example as `\n` and `\u{1B}`.
  public var description: String {
    var lines = [stateSentence]
    func addRest(_ count: Int, _ what: String) {
      if count > 0 { lines.append("\(what): \(count) more") }
    }
    if state == .newest, !isSequenceCertain {
      lines.append("A later header may be lost, so the number of the last commit is uncertain.")
    }
    for entity in entities {
      let lost = entity.lost.map { "\($0) lost" } ?? "an unknown number lost"
      lines.append(
        "\(escaped(entity.name)): \(entity.kept) kept, \(entity.doubtful) doubtful, \(lost)")
    }
    lines += doubtful.map { "doubtful: \(Self.name($0))" }
    addRest(entities.reduce(0) { $0 + $1.doubtful } - doubtful.count, "doubtful")
    lines += leftOut.map { "left out: \(Self.name($0))" }
    addRest(leftOutCount - leftOut.count, "left out")
    lines += lostLinks.map {
      "lost link: \(Self.name($0.owner)).\(escaped($0.relationship)) to \(Self.name($0.target))"
    }
    addRest(lostLinkCount - lostLinks.count, "lost link")
    lines += lostBinaries.map {
      "lost binary value: \(Self.name($0.owner)).\(escaped($0.attribute))"
    }
    addRest(lostBinaryCount - lostBinaries.count, "lost binary value")
    lines += doubtfulMetadata.map { "doubtful metadata: \(escaped($0))" }
    if isModelGiven {
      lines.append(
        "The file no longer contains its model. The given model was used.")
    }
    if isCatalogMade {
      lines.append("The file no longer contains its catalog. The catalog of a new store was used.")
    }
    if isUniqueIDLost {
      lines.append("The counter of unique IDs is lost. New IDs start above 2^48.")
    }
    return lines.joined(separator: "\n")
  }

  private var stateSentence: String {
    let commit = sequence.map { "commit \($0)" } ?? "an unknown commit"
    return switch state {
    case .newest: "Read the newest state, from \(commit)."
    case .previous: "Read the state of one root page, from \(commit). A later state may be lost."
    case .withoutRoot:
      "Read the newest state that a page refers to, from \(commit). A later state may be lost."
    case .unknown: "Read individual pages. It is unknown which of them belong together."
    }
  }

  private static func name(_ id: ObjectID) -> String { "\(escaped(id.entityName)) \(id.number)" }
}

/// Escapes a name or key of the damaged file, so that it stays on one line.
private func escaped(_ text: String) -> String { TerminalText.escaped(text) }
