import ArborJSON
import ArborModel

/// What a document asks for, understood and checked as far as the model reaches, before anything
/// in a context is touched.
///
/// Mappings write plans; ``ExchangeRun`` carries them out. A plan names objects and groups by their
/// indices in its lists, so that documents may speak of objects that come later.
///
/// A plan holds where things stand rather than copies of them, for there may be millions: the
/// values of attributes are checked when it is made, and read once more when they are needed.
struct ExchangePlan {
  /// The objects, in the order in which they are made.
  var objects: [PlannedObject] = []
  private(set) var links: [PlannedLink] = []
  /// Objects that belong together, as those that one document makes. Groups within groups form
  /// trees: each is part of one group or of one relationship at most.
  var groups: [[PlannedSource]] = []

  /// The object that each reference names. A reference may be planned before its object is.
  var references: [UInt32] = []
  /// Objects that are looked up by their values.
  var finds: [PlannedFind] = []

  /// Makes room for many objects at once: a list that outgrows its room is twice in memory until
  /// it is copied. Of a few it is left to the list to grow by more.
  mutating func reserve(_ count: Int) {
    if count > objects.count { objects.reserveCapacity(objects.count + count) }
  }

  mutating func link(
    _ object: Int, _ relationship: ExchangeRelationship, to sources: PlannedSources,
    at node: JSONNode
  ) {
    links.append(PlannedLink(relationship: relationship, node: node, sources: sources))
    let index = Int32(links.count - 1)
    let last = objects[object].lastLink
    if last < 0 {
      objects[object].firstLink = index
    } else {
      links[Int(last)].next = index
    }
    objects[object].lastLink = index
  }

  func members(of link: PlannedLink) -> [PlannedMember] {
    switch link.sources {
    case .one(let source): members(of: CollectionOfOne(source))
    case .several(let sources): members(of: sources)
    }
  }

  /// The single members of some sources, in order. Linear in their number and without recursion,
  /// for documents nest as deep as they like.
  func members(of sources: some Collection<PlannedSource>) -> [PlannedMember] {
    var found: [PlannedMember] = []
    found.reserveCapacity(sources.count)
    var waiting: [PlannedSource] = []
    for source in sources {
      waiting.append(source)
      // The last that waits is the first.
      while let source = waiting.popLast() {
        switch source {
        case .object(let object): found.append(.object(Int(object)))
        case .group(let group): waiting.append(contentsOf: groups[Int(group)].reversed())
        case .reference(let reference): found.append(.object(Int(references[Int(reference)])))
        case .find(let find): found.append(.find(Int(find)))
        }
      }
    }
    return found
  }
}

/// One object, all objects of a group, or an object that is made or found elsewhere: its place in
/// the list of its kind, in 32 bits, since there may be millions.
enum PlannedSource {
  case object(UInt32)
  case group(UInt32)
  case reference(UInt32)
  case find(UInt32)
}

/// What a link leads to: mostly one thing, for which a list would take more room than the thing.
enum PlannedSources {
  case one(PlannedSource)
  case several([PlannedSource])
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
  let key: IdentityKey
  let node: JSONNode
}

struct PlannedObject {
  let entity: ExchangeEntity
  /// Where the document describes it, attributes included.
  let node: JSONNode
  /// The indices of its first and its last link; -1 where it has none.
  fileprivate(set) var firstLink: Int32 = -1
  fileprivate(set) var lastLink: Int32 = -1
}

struct PlannedLink {
  let relationship: ExchangeRelationship
  let node: JSONNode
  let sources: PlannedSources
  /// The index of the object's next link; -1 for the last.
  fileprivate(set) var next: Int32 = -1
}
