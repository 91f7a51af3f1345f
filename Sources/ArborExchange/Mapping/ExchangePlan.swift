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

  /// The places of all objects of some sources, in order. Linear in their number and without
  /// recursion, for documents nest as deep as they like.
  func objects(of sources: [PlannedSource]) -> [Int] {
    var found: [Int] = []
    var waiting = Array(sources.reversed())
    while let source = waiting.popLast() {
      switch source {
      case .object(let object): found.append(object)
      case .group(let group): waiting.append(contentsOf: groups[group].reversed())
      }
    }
    return found
  }
}

/// One object, or all objects of a group.
enum PlannedSource {
  case object(Int)
  case group(Int)
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
