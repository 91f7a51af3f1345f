import ArborModel
import ArborObjects
import Foundation

/// How a relationship is connected with objects that an item names by their keys.
struct ItemReference {
  let template: ReferenceTemplate
  /// Where the objects are looked up.
  let table: IdentityTable
  let attributes: AttributeReader

  /// The identity that a key spells; nil where no object can have it.
  func identity(_ key: String) -> IdentityKey? {
    attributes.key(spelledAs: key, for: table.attributes[0]).map(IdentityKey.one)
  }
}

/// What an item says of a relationship by naming keys.
struct PlannedReference {
  /// Where an item stands, for errors.
  enum Place {
    case node(JSONNode)
    /// By its first byte, when the document is no longer in memory.
    case byte(Int, of: URL)

    /// Line and column. Reads the file again where it has to.
    var location: ArborError.SourceLocation? {
      switch self {
      case .node(let node): node.location
      case .byte(let offset, let url):
        (try? Data(contentsOf: url, options: .mappedIfSafe)).map { data in
          let lines = data.prefix(offset).split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
          return ArborError.SourceLocation(
            source: url.path, line: lines.count,
            column: String(decoding: lines.last ?? Data(), as: UTF8.self).count + 1)
        }
      }
    }
  }

  let place: Place
  /// For each object the identities it may have, the preferred one first.
  let targets: [[IdentityKey]]

  /// The same without the document in memory.
  func outOfMemory(_ url: URL) -> PlannedReference {
    guard case .node(let node) = place else { return self }
    return PlannedReference(place: .byte(node.offset, of: url), targets: targets)
  }
}

/// A relationship whose objects were named by keys, until all items have been carried out: later
/// ones may make what earlier ones name.
struct PendingReference {
  let object: ManagedObject
  let entity: String
  let relationship: ItemRelationship
  let reference: PlannedReference
}

/// What becomes of a key that no object has.
enum UnknownKeyRule {
  case isError
  case meansNothing
  /// A later batch may make the object.
  case waits
}
