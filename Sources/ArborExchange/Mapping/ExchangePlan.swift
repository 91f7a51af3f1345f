import ArborModel

/// What a document asks for, understood and checked as far as the model reaches, before anything
/// in a context is touched.
///
/// Mappings write plans; ``ExchangeRun`` carries them out. A plan names objects and groups by their
/// places in its lists, so that documents may speak of objects that come later.
struct ExchangePlan {
  /// The objects, in the order in which they are made.
  var objects: [PlannedObject] = []
  /// Objects that belong together, as those that one document makes. Groups within groups form
  /// trees: each is part of one group or of one relationship at most.
  var groups: [[PlannedSource]] = []

  /// The object that each reference names. A reference may be planned before its object is.
  var references: [Int] = []
  /// Objects that are looked up by their values.
  var finds: [PlannedFind] = []

  /// The single members of some sources, in order. Linear in their number and without recursion,
  /// for documents nest as deep as they like.
  func members(of sources: [PlannedSource]) -> [PlannedMember] {
    var found: [PlannedMember] = []
    var waiting = Array(sources.reversed())
    while let source = waiting.popLast() {
      switch source {
      case .object(let object): found.append(.object(object))
      case .group(let group): waiting.append(contentsOf: groups[group].reversed())
      case .reference(let reference): found.append(.object(references[reference]))
      case .find(let find): found.append(.find(find))
      }
    }
    return found
  }
}

/// One object, all objects of a group, or an object that is made or found elsewhere.
enum PlannedSource {
  case object(Int)
  case group(Int)
  case reference(Int)
  case find(Int)
}

/// One object: one that the plan makes, or one that is looked up.
enum PlannedMember {
  case object(Int)
  case find(Int)
}

/// The one object with some values, among those that the plan makes and those that were there.
struct PlannedFind {
  let entity: ExchangeEntity
  /// In the order of their names.
  let attributes: [ExchangeAttribute]
  /// The values of the attributes.
  let key: IdentityKey
  let node: JSONNode
}

/// An object that a document describes.
struct PlannedObject {
  let entity: ExchangeEntity
  /// Where the document describes it.
  let node: JSONNode
  var values: [PlannedValue] = []
  var links: [PlannedLink] = []
}

/// What one attribute of an object becomes.
struct PlannedValue {
  enum Content {
    case value(Value)
    /// A fresh unique number.
    case uniqueID
  }

  let attribute: ExchangeAttribute
  let content: Content
  let node: JSONNode
}

/// What one relationship of an object gets.
struct PlannedLink {
  let relationship: ExchangeRelationship
  let sources: [PlannedSource]
  let node: JSONNode
}
