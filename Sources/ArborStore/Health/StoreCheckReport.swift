package import ArborModel

/// What the store check found.
package struct StoreCheckReport: Sendable, CustomStringConvertible {
  /// One thing that is not as it should be.
  package struct Problem: Sendable, Hashable, CustomStringConvertible {
    /// The rule that is broken.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
      /// A page of the file contradicts itself or others. Nothing else was read then.
      case damagedPage
      /// The header, the model, the catalogue or a layout is not what the file was opened with.
      case header
      /// A counter has not passed a number that is in use.
      case counter
      /// The history has a gap, a damaged entry, or another end than the header says.
      case history
      /// A record is damaged or in a layout that nobody knows.
      case damagedRecord
      /// A record without a value that it must have, or with a number that is none.
      case missingValue
      /// A record lies under a key of another entity.
      case misplacedRecord
      /// A binary outside of its record that is damaged or missing.
      case damagedBlob
      /// A binary outside of a record that no record refers to.
      case strayBlob
      /// A record without its entry in an index.
      case missingIndexEntry
      /// An entry in an index without its record, or under another key than the record's.
      case strayIndexEntry
      /// Two objects with one unique value.
      case duplicate
      /// A link to an object that does not exist.
      case danglingLink
      /// A member of a relationship that its own side knows and the relationship does not.
      case missingLink
      /// A member that its own side does not know.
      case strayLink
      /// A database has other entries than its commits have left.
      case digest
      /// The two databases of an ordered relationship disagree.
      case order
    }

    package let kind: Kind
    package let entity: String?
    package let object: ObjectNumber?
    /// What is wrong, in a sentence.
    package let description: String
  }

  /// Nobody reads more; a ruined file has millions.
  package static let mostProblems = 1000

  package private(set) var problems: [Problem] = []
  /// Whether more was found than ``problems`` lists.
  package private(set) var isCutShort = false
  package internal(set) var recordCount = 0
  package internal(set) var indexEntryCount = 0
  /// The members of relationships that were compared.
  package internal(set) var linkCount = 0

  package var isSound: Bool { problems.isEmpty }

  package var description: String {
    guard !isSound else {
      return "\(recordCount) records, \(indexEntryCount) index entries, \(linkCount) links: sound"
    }
    let lines = problems.map { "\($0.kind.rawValue): \($0.description)" }
    return lines.joined(separator: "\n") + (isCutShort ? "\nand more" : "")
  }

  mutating func add(
    _ kind: Problem.Kind, _ description: String, entity: String? = nil, object: ObjectNumber? = nil
  ) {
    guard problems.count < Self.mostProblems else {
      isCutShort = true
      return
    }
    problems.append(Problem(kind: kind, entity: entity, object: object, description: description))
  }
}

/// How far a store check is.
package struct StoreCheckProgress: Sendable, Hashable {
  /// What is being checked, in the order of the check.
  package enum Stage: Sendable, Hashable {
    /// The pages of the file, by plain reads.
    case pages
    /// The records of one entity.
    case records(String)
    /// The entries of the indexes.
    case indexes
    /// The members of to-many relationships.
    case relationships
    /// The digests of the databases.
    case digests
  }

  package typealias Reporter = (StoreCheckProgress) -> Void

  package let stage: Stage
  /// How much of the stage is done, of ``total``: records, indexes or relationships.
  package let done: Int
  package let total: Int

  /// After how many records progress is told again.
  static let interval = 4096
}
