import ArborModel

/// What a document asks for, understood and checked as far as the model reaches, before anything
/// in a context is touched.
///
/// Mappings write plans; ``ExchangeRun`` carries them out. A plan names objects and groups by their
/// places in its lists, so that documents may speak of objects that come later.
///
/// A plan holds where things stand rather than copies of them, for there may be millions: the
/// values of attributes are checked when it is made, and read once more when they are needed.
struct ExchangePlan {
  /// The objects, in the order in which they are made.
  var objects: [PlannedObject] = []
  /// What the relationships of all objects get.
  private(set) var links: [PlannedLink] = []
  /// The sources of all links.
  private var sources: [PlannedSource] = []
  /// Objects that belong together, as those that one document makes. Groups within groups form
  /// trees: each is part of one group or of one relationship at most.
  var groups: [[PlannedSource]] = []

  /// The object that each reference names. A reference may be planned before its object is.
  var references: [Int] = []
  /// Objects that are looked up by their values.
  var finds: [PlannedFind] = []

  /// Adds a link to those of an object.
  mutating func link(
    _ object: Int, _ relationship: ExchangeRelationship, to sources: [PlannedSource],
    at node: JSONNode
  ) {
    let first = self.sources.count
    self.sources += sources
    let place = links.count
    links.append(
      PlannedLink(
        relationship: relationship, node: node, sources: first..<self.sources.count, next: nil))
    if let last = objects[object].links?.last {
      links[last].next = place
      objects[object].links?.last = place
    } else {
      objects[object].links = (place, place)
    }
  }

  /// What a link leads to.
  func members(of link: PlannedLink) -> [PlannedMember] { members(of: sources[link.sources]) }

  /// The single members of some sources, in order. Linear in their number and without recursion,
  /// for documents nest as deep as they like.
  func members(of sources: some Collection<PlannedSource>) -> [PlannedMember] {
    var found: [PlannedMember] = []
    found.reserveCapacity(sources.count)
    var waiting: [PlannedSource] = []
    for source in sources {
      waiting.append(source)
      members(of: &waiting, &found)
    }
    return found
  }

  /// The members of what waits, the last of which is the first.
  private func members(of waiting: inout [PlannedSource], _ found: inout [PlannedMember]) {
    while let source = waiting.popLast() {
      switch source {
      case .object(let object): found.append(.object(object))
      case .group(let group): waiting.append(contentsOf: groups[group].reversed())
      case .reference(let reference): found.append(.object(references[reference]))
      case .find(let find): found.append(.find(find))
      }
    }
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
  /// Where the document describes it, attributes included.
  let node: JSONNode
  /// The places of its first and its last link; nil where it has none.
  var links: (first: Int, last: Int)?
}

/// What one relationship of an object gets.
struct PlannedLink {
  let relationship: ExchangeRelationship
  let node: JSONNode
  /// The places of its sources.
  let sources: Range<Int>
  /// The place of the object's next link.
  var next: Int?
}
