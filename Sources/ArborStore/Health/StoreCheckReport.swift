package import ArborModel

/// The result of a store check.
package struct StoreCheckReport: Sendable, CustomStringConvertible {
  /// An inconsistency in the store.
  package struct Problem: Sendable, Hashable, CustomStringConvertible {
    /// The rule that is violated.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
      /// A page of the file is inconsistent with itself or with other pages. In that case, nothing
      /// else has been checked.
      case damagedPage
      /// The header, the model, the catalog or a layout differs from the one that the file was
      /// opened with.
      case header
      /// A counter is not greater than a number in use.
      case counter
      /// The history has a gap or a damaged entry, or its end differs from the header.
      case history
      /// A record is damaged or in an unknown layout.
      case damagedRecord
      /// A record lacks a required value or contains NaN.
      case missingValue
      /// A stored derived value differs from what its expression yields.
      case derivedValue
      /// An object violates a rule of the model that commits check: a mandatory relationship has no
      /// target, or a relationship has too few or too many members. The file is not damaged.
      case brokenRule
      /// A record is stored under a key of another entity.
      case misplacedRecord
      /// An external binary value is damaged or missing.
      case damagedBlob
      /// An external binary value is not referred to by any record.
      case strayBlob
      /// A record lacks its entry in an index.
      case missingIndexEntry
      /// An index entry has no record, or its key differs from the record's.
      case strayIndexEntry
      /// Two objects have the same unique value.
      case duplicate
      /// A link refers to an object that does not exist.
      case danglingLink
      /// A relationship lacks a member that its inverse has.
      case missingLink
      /// A relationship has a member that its inverse lacks.
      case strayLink
      /// The entries of a database differ from those that its commits wrote.
      case digest
      /// The two databases of an ordered relationship are inconsistent.
      case order
    }

    package let kind: Kind
    package let entity: String?
    package let object: ObjectNumber?
    /// The problem in a sentence.
    package let description: String
  }

  /// The maximum number of problems to list. A ruined file may have millions.
  package static let maximumProblems = 1000

  package private(set) var problems: [Problem] = []
  /// Whether more problems were found than ``problems`` lists.
  package private(set) var isCutShort = false
  package internal(set) var recordCount = 0
  package internal(set) var indexEntryCount = 0
  /// The number of compared relationship members.
  package internal(set) var linkCount = 0

  package var isSound: Bool { problems.isEmpty }
  /// Whether the only problems are objects that violate the model's rules.
  package var breaksOnlyRules: Bool { problems.allSatisfy { $0.kind == .brokenRule } }

  /// The number of problems in words, such as `2 problems`.
  package var problemCount: String {
    if isCutShort { return "more than \(problems.count) problems" }
    return problems.count == 1 ? "1 problem" : "\(problems.count) problems"
  }

  package var description: String {
    guard !isSound else {
      return "\(recordCount) \(recordCount == 1 ? "record" : "records"), "
        + "\(indexEntryCount) index \(indexEntryCount == 1 ? "entry" : "entries"), "
        + "\(linkCount) \(linkCount == 1 ? "link" : "links"): sound"
    }
    let lines = problems.map { "\($0.kind.rawValue): \($0.description)" }
    return lines.joined(separator: "\n") + (isCutShort ? "\nand more" : "")
  }

  mutating func add(
    _ kind: Problem.Kind, _ description: String, entity: String? = nil, object: ObjectNumber? = nil
  ) {
    guard problems.count < Self.maximumProblems else {
      isCutShort = true
      return
    }
    problems.append(Problem(kind: kind, entity: entity, object: object, description: description))
  }
}

/// The progress of a store check.
package struct StoreCheckProgress: Sendable, Hashable {
  /// A stage of the check, in order.
  package enum Stage: Sendable, Hashable {
    /// The pages of the file, read without the memory map.
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
  /// The number of records, indexes or relationships of the stage that have been checked, out of
  /// ``total``.
  package let done: Int
  package let total: Int

  /// The number of records between progress reports.
  static let interval = 4096
}
