import ArborJSON
import ArborModel
import ArborObjects

/// Items as their mappings understand them, before anything in a context is touched.
///
/// A plan reads the items of imports and syncs itself (``enterItems(_:_:within:)``); ``SeedReader``
/// enters the documents of a seed, and ``ModelPlanner`` value models. ``ExchangeRun`` carries it
/// out.
///
/// Flat lists of numbers rather than a tree of objects: an object for each item, each link and each
/// value would cost more than reading them. Values of documents are kept by their places; those of
/// models are kept themselves.
final class ExchangePlan {
  struct Item {
    /// The index of its mapping among ``mappings``.
    let mapping: Int32
    /// The index of its document among ``documents``; -1 for a value model.
    let document: Int32
    /// Its own index on the document's tape, or that of its model.
    let node: Int32
    /// The index of its identity in its mapping's table; -1 if each such item is a new object.
    var key: Int32
    /// Whether the item within which it is described is a part of its identity.
    var isWithinParent: Bool
    /// The index among ``values`` of its first attribute.
    var values: Int32
    /// The indexes among ``links`` of what it says of its relationships.
    var firstLink: Int32
    var linkCount: Int32 = 0
    /// The index among ``origins`` of the item that a validator has replaced by this one; -1 for
    /// none.
    var origin: Int32 = -1

    var links: Range<Int> { Int(firstLink)..<Int(firstLink + linkCount) }
  }

  /// What an item says of a relationship.
  struct Link {
    enum Content: UInt8 {
      case absent
      case null
      /// ``Link/count`` objects, at ``Link/first`` among ``ExchangePlan/members``. A to-one
      /// relationship has none if a validator has dropped its item.
      case members
    }

    /// The index of the relationship in the item's mapping.
    let relationship: Int32
    var content = Content.absent
    /// Whether it is connected when all items have been carried out, since it may lead to later
    /// ones.
    var isDeferred = false
    /// The index of the value on the tape of the item's document; 0 if there is none.
    var node: Int32 = 0
    /// The index of the items' mapping among ``ExchangePlan/mappings``; -1 if there are no items.
    var mapping: Int32 = -1
    var first: Int32 = -1
    var count: Int32 = 0
  }

  /// What a link leads to.
  enum Member {
    case item(Int32)
    /// An object that exists or that another item describes, by its key among ``names``.
    case named(Int32)
    /// The item that a label names, by its index among ``labels``.
    case labelled(Int32)
    /// All items of a group, by its index among ``groups``.
    case group(Int32)
  }

  /// An object by the identities that it may have.
  struct Name {
    /// The index of the table in which they are looked up.
    let table: Int32
    /// The indexes among ``keys`` of their indexes in the table, the preferred one first.
    let first: Int32
    var count: Int32 = 0
    /// Where the object is named.
    var node: Int32 = 0
    var document: Int32 = -1
  }

  let context: ManagedObjectContext
  /// Ends planning and the run before they are done.
  var limit: ExchangeLimit
  /// Receives what a lenient exchange leaves out; `nil` if that is an error.
  let drops: ImportDrops?
  /// The number of items that are null or that validators have dropped.
  var droppedCount = 0
  private(set) var mappings: [ExchangeMapping] = []
  /// For each mapping the table in which its items are looked up.
  private(set) var tables: [IdentityTable?] = []
  /// For each mapping, and each of its relationships, the table of the keys by which it names
  /// objects.
  private var referenceTables: [[IdentityTable?]] = []
  /// All tables: those of mappings, those of references, and those of what seeds find.
  private var identityTables: [IdentityTable] = []
  private var tableIndexes: [IdentityTable.Scope: Int] = [:]
  /// For entities whose objects were noted the tables that they belong to, until there is another
  /// table.
  private var tablesOfEntity: [Int: [IdentityTable]] = [:]
  private(set) var documents: [JSONDocument] = []
  var items: [Item] = []
  /// For each attribute of each item the index of its value on the tape, or of its content; 0 if it
  /// is missing.
  var values: [Int32] = []
  var links: [Link] = []
  var members: [Member] = []
  private(set) var names: [Name] = []
  private(set) var keys: [Int32] = []
  /// The items that labels name. A label may be used before its item is planned.
  var labels: [Int32] = []
  /// Objects that belong together, as those that one document of a seed creates. Groups within
  /// groups form trees: each is part of one group or of one relationship at most.
  var groups: [[Member]] = []
  private(set) var origins: [JSONNode] = []
  /// The greatest number of members that an item gives to one relationship.
  let maximumMembers: Int

  /// - Parameter limit: `nil` for that of the context.
  init(
    _ context: ManagedObjectContext, _ limit: ExchangeLimit? = nil, drops: ImportDrops? = nil,
    maximumMembers: Int = .max
  ) {
    self.context = context
    self.limit = limit ?? ExchangeLimit(context)
    self.drops = drops
    self.maximumMembers = maximumMembers
  }

  /// Makes room for many items at once: a list that outgrows its room is twice in memory until it is
  /// copied. Of a few it is left to the list to grow by more.
  func reserve(_ count: Int) {
    if count > items.count { items.reserveCapacity(items.count + count) }
  }

  /// Enters a mapping, once.
  func index(of mapping: ExchangeMapping) -> Int32 {
    if let index = mapping.indexInPlan, index < mappings.count, mappings[index] === mapping {
      return Int32(index)
    }
    mapping.indexInPlan = mappings.count
    mappings.append(mapping)
    tables.append(
      mapping.identity.map { identity in
        table(
          for: mapping.entity, by: mapping.identityAttributes.map { mapping.attributes[$0].coder },
          under: identity.parent, within: identity.scope)
      })
    referenceTables.append(
      mapping.relationships.map { relationship in
        relationship.reference.map { table(for: $0.entity, by: [$0.attribute]) }
      })
    return Int32(mappings.count - 1)
  }

  func referenceTable(_ mapping: Int32, _ relationship: Int) -> IdentityTable? {
    referenceTables[Int(mapping)][relationship]
  }

  /// Enters a document, once if its items follow each other.
  func index(of document: JSONDocument) -> Int32 {
    if documents.last !== document { documents.append(document) }
    return Int32(documents.count - 1)
  }

  /// Enters an item that a validator has replaced.
  func index(ofOrigin node: JSONNode) -> Int32 {
    origins.append(node)
    return Int32(origins.count - 1)
  }

  /// Enters an object by the identities that it may have, of which each is asked for; those are left
  /// out that no object can have.
  func name(
    _ identities: some Collection<IdentityKey?>, in table: IdentityTable, at node: JSONNode? = nil
  ) -> Int32 {
    var name = Name(table: Int32(table.index), first: Int32(keys.count))
    if let node {
      name.node = Int32(node.tapeIndex)
      name.document = index(of: node.document)
    }
    for case let key? in identities {
      keys.append(table.want(key))
      name.count += 1
    }
    names.append(name)
    return Int32(names.count - 1)
  }

  /// The table of a name, and the indexes of its keys there, the preferred one first.
  func keys(of name: Int32) -> (table: IdentityTable, keys: ArraySlice<Int32>) {
    let name = names[Int(name)]
    return (
      identityTables[Int(name.table)], keys[Int(name.first)..<Int(name.first + name.count)]
    )
  }

  // MARK: Objects by their identities

  /// The table of an entity and its subentities, by some attributes, and if `parent` is given by the
  /// object that this relationship leads to; `scope` bounds the search.
  func table(
    for entity: EntitySchema, by attributes: [AttributeCoder],
    under parent: RelationshipSchema? = nil, within scope: FetchPredicate? = nil
  ) -> IdentityTable {
    let key = IdentityTable.Scope(
      entity: entity.index, attributes: attributes.map(\.slot), parent: parent?.slot,
      condition: scope)
    if let index = tableIndexes[key] { return identityTables[index] }
    let table = IdentityTable(
      identityTables.count, entity, attributes, under: parent, within: scope, in: context)
    tableIndexes[key] = identityTables.count
    identityTables.append(table)
    tablesOfEntity = [:]
    return table
  }

  /// Looks up the objects of all identities that were asked for, in one fetch per table and never
  /// in one per item.
  func fetchObjects() throws(ArborError) {
    for table in identityTables { try table.fetch() }
  }

  /// Enters an object that was created, or has come by its key, into every table that it belongs to.
  ///
  /// - Parameter guess: A table that it belongs to, and the index of the key that it probably has.
  func note(
    _ object: ManagedObject, of entity: EntitySchema, guess: (IdentityTable, index: Int)? = nil
  ) throws(ArborError) {
    if tablesOfEntity[entity.index] == nil {
      tablesOfEntity[entity.index] = identityTables.filter {
        entity.isKind(of: $0.entity) && $0.parent == nil
      }
    }
    for table in tablesOfEntity[entity.index] ?? [] {
      try table.note(object, guess: table === guess?.0 ? guess?.index : nil)
    }
  }

  // MARK: Reading the plan

  func mapping(of item: Item) -> ExchangeMapping { mappings[Int(item.mapping)] }

  func members(of link: Link) -> ArraySlice<Member> {
    link.count == 0 ? [] : members[Int(link.first)..<Int(link.first + link.count)]
  }

  func node(_ item: Item, _ index: Int32) -> JSONNode { node(in: item.document, index) }

  /// The value of a document at an index of its tape.
  func node(in document: Int32, _ index: Int32) -> JSONNode {
    JSONNode(document: documents[Int(document)], tapeIndex: Int(index))
  }

  /// Where an object is named, for names that were entered with it.
  func node(ofName name: Int32) -> JSONNode {
    node(in: names[Int(name)].document, names[Int(name)].node)
  }

  /// The item as its document has it, for errors: if a validator has replaced it, the one that was
  /// replaced.
  func origin(_ item: Item) -> JSONNode {
    item.origin < 0 ? node(item, item.node) : origins[Int(item.origin)]
  }

  /// The single members of some, in order: items and names. Linear in their number and without
  /// recursion, for documents nest as deep as they like.
  func flattened(_ members: some Collection<Member>) -> [Member] {
    var found: [Member] = []
    found.reserveCapacity(members.count)
    var waiting: [Member] = []
    for member in members {
      waiting.append(member)
      // The last that waits is the first.
      while let member = waiting.popLast() {
        switch member {
        case .item, .named: found.append(member)
        case .labelled(let label): found.append(.item(labels[Int(label)]))
        case .group(let group): waiting.append(contentsOf: groups[Int(group)].reversed())
        }
      }
    }
    return found
  }

  /// Removes all items, and the documents that they are in.
  func removeItems() {
    documents.removeAll()
    items.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
    links.removeAll(keepingCapacity: true)
    members.removeAll(keepingCapacity: true)
    names.removeAll(keepingCapacity: true)
    keys.removeAll(keepingCapacity: true)
    origins.removeAll()
  }
}
