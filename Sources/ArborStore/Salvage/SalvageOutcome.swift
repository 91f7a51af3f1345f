package import ArborModel

/// What a salvage brought into the new store, and what it did not.
package struct SalvageOutcome: Sendable {
  /// Which state of the damaged file was read.
  package enum State: String, Sendable, Hashable {
    /// That of the last commit.
    case newest
    /// That of the only root page that leads to one: it may be of the commit before the last.
    case previous
    /// The newest that a page tells of, without a root page that says whether it is the last.
    case withoutRoot
    /// Nothing tells which pages belong together.
    case unknown
  }

  /// The objects of one entity.
  package struct Entity: Sendable, Hashable {
    package let name: String
    /// The objects as the state has them.
    package internal(set) var kept = 0
    /// Objects from pages of which nobody can tell whether they are out of date.
    package internal(set) var doubtful = 0
    /// How many more the state has at least; nil where it no longer tells how many it has.
    package internal(set) var lost: Int?
  }

  /// A link that is not in the new store.
  package struct LostLink: Sendable, Hashable {
    package let owner: ObjectNumber
    package let relationship: String
    package let target: ObjectNumber
  }

  /// A large binary whose bytes are lost.
  package struct LostBinary: Sendable, Hashable {
    package let owner: ObjectNumber
    package let attribute: String
  }

  /// Where the model came from.
  package enum Origin: String, Sendable, Hashable {
    case file
    /// The caller gave the model, as no page holds one.
    case given
  }

  /// Nobody reads more of each list.
  package static let maximumListed = 1000

  package internal(set) var state = State.unknown
  package internal(set) var model = Origin.file
  /// Whether no page holds a catalogue, so that things have the numbers of a new store.
  package internal(set) var isCatalogMade = false
  /// The commit sequence of the newest header that was found; nil for none.
  package internal(set) var sequence: UInt64?
  /// Whether that is the header of the last commit for certain.
  package internal(set) var isHeaderCertain = false
  /// By name.
  package internal(set) var entities: [Entity] = []
  /// The doubtful objects, in the order of their numbers, as far as they are listed.
  package internal(set) var doubtful: [ObjectNumber] = []
  /// Objects that are not in the new store, since others have their values, which must be unique.
  package internal(set) var leftOutCount = 0
  package internal(set) var leftOut: [ObjectNumber] = []
  package internal(set) var lostLinkCount = 0
  package internal(set) var lostLinks: [LostLink] = []
  package internal(set) var lostBinaryCount = 0
  package internal(set) var lostBinaries: [LostBinary] = []
  /// Keys of the application's metadata that is out of date perhaps.
  package internal(set) var doubtfulMetadata: [String] = []
  /// Whether the counter of the application's unique numbers is lost, so that they go on far above.
  package internal(set) var isUniqueIDLost = false

  mutating func noteLeftOut(_ numbers: [ObjectNumber]) {
    leftOutCount += numbers.count
    leftOut += numbers.prefix(max(0, Self.maximumListed - leftOut.count))
  }
}
