package import ArborModel

/// What the store check found.
package struct StoreCheckReport: Sendable, CustomStringConvertible {
  /// One thing that is not as it should be.
  package struct Problem: Sendable, Hashable, CustomStringConvertible {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
      /// A record whose bytes are damaged.
      case damagedRecord
    }

    package let kind: Kind
    package let entity: String?
    package let object: ObjectNumber?
    /// What is wrong, in a sentence.
    package let description: String
  }

  package internal(set) var problems: [Problem] = []

  package var isSound: Bool { problems.isEmpty }

  package var description: String {
    isSound ? "sound" : problems.map(\.description).joined(separator: "\n")
  }
}

extension StoreFile {
  package func check() throws(StoreError) -> StoreCheckReport { StoreCheckReport() }
}
