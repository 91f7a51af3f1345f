package import ArborModel

/// The result of a salvage: what was recovered and what was not.
package struct SalvageOutcome: Sendable {
  /// The state of the damaged file that was read.
  package enum State: String, Sendable, Hashable {
    /// The state of the last commit.
    case newest
    /// The state of the only usable root page, which may be that of the commit before the last.
    case previous
    /// The newest state found on any page, without a root page that confirms it is the last.
    case withoutRoot
    /// It is unknown which pages belong together.
    case unknown
  }

  /// The objects of one entity.
  package struct Entity: Sendable, Hashable {
    package let name: String
    /// The number of objects that are certain to belong to this state.
    package internal(set) var kept = 0
    /// The number of objects from pages that may be out of date.
    package internal(set) var doubtful = 0
    /// The minimum number of further objects in the state, or `nil` if their total is unknown.
    package internal(set) var lost: Int?
  }

  /// A link that could not be recovered.
  package struct LostLink: Sendable, Hashable {
    package let owner: ObjectNumber
    package let relationship: String
    package let target: ObjectNumber
  }

  /// A large binary value whose bytes are lost.
  package struct LostBinary: Sendable, Hashable {
    package let owner: ObjectNumber
    package let attribute: String
  }

  /// The source of the model.
  package enum Origin: String, Sendable, Hashable {
    case file
    /// The caller provided the model because it is not in the file.
    case given
  }

  /// The maximum length of each list.
  package static let maximumListed = 1000

  package internal(set) var state = State.unknown
  package internal(set) var model = Origin.file
  /// Whether no catalog was found, so that entities and properties are numbered as in a new
  /// store.
  package internal(set) var isCatalogMade = false
  /// The sequence number of the newest header that was found, or `nil` if there isn't one.
  package internal(set) var sequence: UInt64?
  /// Whether the newest header that was found is certain to be that of the last commit.
  package internal(set) var isHeaderCertain = false
  /// The entities, sorted by name.
  package internal(set) var entities: [Entity] = []
  /// The first doubtful objects, in the order of their numbers.
  package internal(set) var doubtful: [ObjectNumber] = []
  /// The number of objects that were left out because others have the same unique values.
  package internal(set) var leftOutCount = 0
  package internal(set) var leftOut: [ObjectNumber] = []
  package internal(set) var lostLinkCount = 0
  package internal(set) var lostLinks: [LostLink] = []
  package internal(set) var lostBinaryCount = 0
  package internal(set) var lostBinaries: [LostBinary] = []
  /// The keys of the application's metadata that may be out of date.
  package internal(set) var doubtfulMetadata: [String] = []
  /// Whether the counter of the application's unique numbers is lost, so that it continues from a
  /// much higher number.
  package internal(set) var isUniqueIDLost = false

  mutating func noteLeftOut(_ numbers: [ObjectNumber]) {
    leftOutCount += numbers.count
    leftOut += numbers.prefix(max(0, Self.maximumListed - leftOut.count))
  }
}
