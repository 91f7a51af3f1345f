import ArborJSON
import ArborModel
import ArborObjects

/// Items as interpreted by their mappings, before anything in a context is changed.
///
/// A plan itself reads the items of imports and syncs (``enterItems(_:_:within:)``). ``SeedReader``
/// adds the documents of a seed, and ``ModelPlanner`` value models. ``ExchangeRun`` executes the
/// plan. Methods called `enter` add to the plan and return the index of what they have added.
///
/// The plan consists of flat arrays of numbers instead of a tree of objects, because an object for
/// each item, link and value would cost more than reading them. Document values are represented by
/// their positions; values of models are stored separately.
final class ExchangePlan {
  struct Item {
    /// The index of its mapping in ``mappings``.
    let mapping: Int32
    /// The index of its document in ``documents``, or -1 for a value model.
    let document: Int32
    /// Its own index on the document's tape, or the index of its model.
    let node: Int32
    /// The index of its identity in the mapping's table, or -1 if every such item is a new object.
    var key: Int32
    /// Whether the containing item is part of its identity.
    var isWithinParent: Bool
    /// The index of its first attribute in ``values``.
    var values: Int32
    /// The index of its first relationship in ``links``.
    var firstLink: Int32
    var linkCount: Int32 = 0
    /// The index in ``origins`` of the original item, if a validator has replaced it, otherwise -1.
    var origin: Int32 = -1

    var links: Range<Int> { Int(firstLink)..<Int(firstLink + linkCount) }
  }

  /// The content of a relationship in an item.
  struct Link {
    enum Content: UInt8 {
      case absent
      case null
      /// ``Link/count`` objects, starting at ``Link/first`` in ``ExchangePlan/members``. A to-one
      /// relationship has none if a validator has dropped its item.
      case members
    }

    /// The index of the relationship in the item's mapping.
    let relationship: Int32
    var content = Content.absent
    /// Whether it is connected after all items have been processed, because it may refer to later
    /// ones.
    var isDeferred = false
    /// The tape index of the value in the item's document, or 0 if the item has no value.
    var node: Int32 = 0
    /// The index of the items' mapping in ``ExchangePlan/mappings``, or -1 if there are no items.
    var mapping: Int32 = -1
    var first: Int32 = -1
    var count: Int32 = 0
  }

  /// A target of a link.
  enum Member {
    case item(Int32)
    /// An existing object or one described by another item, by index in ``names``.
    case named(Int32)
    /// A labeled item, by index in ``labels``.
    case labelled(Int32)
    /// All items of a group, by index in ``groups``.
    case group(Int32)
  }

  /// An object identified by one of several possible identities.
  struct Name {
    /// The index of the table for the lookup.
    let table: Int32
    /// The index of its first key in ``keys``, which contains indexes in the table in order of
    /// preference.
    let first: Int32
    var count: Int32 = 0
    /// The location of the reference.
    var node: Int32 = 0
    var document: Int32 = -1
  }

  let context: ManagedObjectContext
  /// The limits that can interrupt planning and execution.
  var limit: ExchangeLimit
  /// The list of the values and items skipped by a lenient exchange, or `nil` if they cause errors.
  let drops: ImportDrops?
  /// The byte offsets of the outermost items to skip, because their objects break rules.
  var skippedItems: Set<Int> = []
  /// A closure that returns the mapping of a subentity, for items that describe one of its existing
  /// objects. If `nil`, the mappings of the items choose it.
  var refinement:
    ((_ mapping: ExchangeMapping, _ entity: EntitySchema) throws(ArborError) -> ExchangeMapping)?
  /// The number of items that were null or dropped by validators.
  var droppedCount = 0
  private(set) var mappings: [ExchangeMapping] = []
  /// The identity table of each mapping.
  private(set) var tables: [IdentityTable?] = []
  /// For each mapping and relationship, the table of the keys by which it refers to objects.
  private var referenceTables: [[IdentityTable?]] = []
  /// All tables: those of mappings, references, and lookups of seeds.
  private var identityTables: [IdentityTable] = []
  private var tableIndexes: [IdentityTable.Scope: Int] = [:]
  /// The tables in which objects of an entity must be recorded, by entity index. Cleared when a
  /// table is added.
  private var tablesOfEntity: [[IdentityTable]?] = []
  private(set) var documents: [JSONDocument] = []
  var items: [Item] = []
  /// For each attribute of each item, the tape index of its value in a document or the index of its
  /// content in a value model, or 0 if it is missing.
  var values: [Int32] = []
  var links: [Link] = []
  var members: [Member] = []
  private(set) var names: [Name] = []
  private(set) var keys: [Int32] = []
  /// The labeled items. A label may be used before its item is planned.
  var labels: [Int32] = []
  /// Groups of objects, such as those created by one document of a seed. Nested groups form trees:
  /// each is part of at most one group or relationship.
  var groups: [[Member]] = []
  private(set) var origins: [JSONNode] = []
  /// The maximum number of members of one relationship in an item.
  let maximumMembers: Int

  /// - Parameter limit: The limits, or `nil` for those of the context.
  init(
    _ context: ManagedObjectContext, _ limit: ExchangeLimit? = nil, drops: ImportDrops? = nil,
    maximumMembers: Int = .max
  ) {
    self.context = context
    self.limit = limit ?? ExchangeLimit(context)
    self.drops = drops
    self.maximumMembers = maximumMembers
  }

  /// Reserves capacity for many items at once, to avoid reallocating large arrays. For a few items,
  /// the arrays grow by themselves.
  func reserve(_ count: Int) {
    if count > items.count { items.reserveCapacity(items.count + count) }
  }

  /// Adds a mapping unless the plan already contains it. Returns its index.
  func enterMapping(_ mapping: ExchangeMapping) -> Int32 {
    if let index = mapping.indexInPlan, index < mappings.count, mappings[index] === mapping {
      return Int32(index)
    }
    mapping.indexInPlan = mappings.count
    mappings.append(mapping)
    tables.append(
      mapping.identity.map { identity in
        table(
          for: mapping.identifiedEntity,
          by: mapping.identityAttributes.map { mapping.attributes[$0].coder },
          under: identity.parent, within: identity.scope)
      })
    referenceTables.append(
      mapping.relationships.map { relationship in
        relationship.reference.map { table(for: $0.entity, by: [$0.attribute]) }
      })
    return Int32(mappings.count - 1)
  }

  /// Whether items may describe existing objects of subentities, whose mappings they are then read
  /// with.
  var mayRefine: Bool {
    mappings.contains {
      $0.identity != nil && $0.entity.concreteFamily.count > 1
        && (refinement != nil || $0.choice != nil)
    }
  }

  func referenceTable(_ mapping: Int32, _ relationship: Int) -> IdentityTable? {
    referenceTables[Int(mapping)][relationship]
  }

  /// Adds a document unless it was the last one added. Returns its index.
  func enterDocument(_ document: JSONDocument) -> Int32 {
    if documents.last !== document { documents.append(document) }
    return Int32(documents.count - 1)
  }

  /// Adds the original of an item that a validator has replaced. Returns its index.
  func enterOrigin(_ node: JSONNode) -> Int32 {
    origins.append(node)
    return Int32(origins.count - 1)
  }

  /// Adds an object with several possible identities and requests their lookup. Identities that no
  /// object can have are skipped. Returns the index of the name.
  func enterName(
    _ identities: some Collection<IdentityKey?>, in table: IdentityTable, at node: JSONNode? = nil
  ) -> Int32 {
    var name = Name(table: Int32(table.index), first: Int32(keys.count))
    if let node {
      name.node = Int32(node.tapeIndex)
      name.document = enterDocument(node.document)
    }
    for case let key? in identities {
      keys.append(table.want(key))
      name.count += 1
    }
    names.append(name)
    return Int32(names.count - 1)
  }

  /// Returns the table of a name and the indexes of its keys in order of preference.
  func keys(of name: Int32) -> (table: IdentityTable, keys: ArraySlice<Int32>) {
    let name = names[Int(name)]
    return (
      identityTables[Int(name.table)], keys[Int(name.first)..<Int(name.first + name.count)]
    )
  }

  // MARK: Objects by their identities

  /// Returns the table of an entity and its subentities, keyed by the given attributes and, if
  /// `parent` is given, by the object that this relationship refers to. `scope` bounds the search.
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
    tablesOfEntity = []
    return table
  }

  /// Looks up the objects of all requested identities, in one fetch per table instead of one per
  /// item.
  func fetchObjects() throws(ArborError) {
    for table in identityTables { try table.fetch() }
  }

  /// Records an inserted or changed object in every table it belongs to.
  ///
  /// - Parameter guess: A table it belongs to, and the index of its likely key.
  func note(
    _ object: ManagedObject, of entity: EntitySchema, guess: (IdentityTable, index: Int)? = nil
  ) throws(ArborError) {
    for table in tables(of: entity) {
      try table.note(object, guess: table === guess?.0 ? guess?.index : nil)
    }
  }

  /// Returns the tables in which objects of an entity are recorded.
  private func tables(of entity: EntitySchema) -> [IdentityTable] {
    let missing = entity.index + 1 - tablesOfEntity.count
    if missing > 0 { tablesOfEntity.append(contentsOf: repeatElement(nil, count: missing)) }
    if let tables = tablesOfEntity[entity.index] { return tables }
    let tables = identityTables.filter { entity.isKind(of: $0.entity) && $0.parent == nil }
    tablesOfEntity[entity.index] = tables
    return tables
  }

  // MARK: Reading the plan

  func mapping(of item: Item) -> ExchangeMapping { mappings[Int(item.mapping)] }

  func members(of link: Link) -> ArraySlice<Member> {
    link.count == 0 ? [] : members[Int(link.first)..<Int(link.first + link.count)]
  }

  func node(_ item: Item, _ index: Int32) -> JSONNode { node(in: item.document, index) }

  /// Returns a document's value at an index of its tape.
  func node(in document: Int32, _ index: Int32) -> JSONNode {
    JSONNode(document: documents[Int(document)], tapeIndex: Int(index))
  }

  /// Returns the location of the reference to a name. The name must have been added with a
  /// location.
  func node(ofName name: Int32) -> JSONNode {
    node(in: names[Int(name)].document, names[Int(name)].node)
  }

  /// Returns an item as it is in its document, for errors. If a validator has replaced it, this is
  /// the original.
  func origin(_ item: Item) -> JSONNode {
    item.origin < 0 ? node(item, item.node) : origins[Int(item.origin)]
  }

  /// Expands labels and groups into items and names, in order. Linear in the number of members and
  /// without recursion, because documents may be nested arbitrarily.
  func flattened(_ members: some Collection<Member>) -> [Member] {
    var found: [Member] = []
    found.reserveCapacity(members.count)
    var waiting: [Member] = []
    for member in members {
      waiting.append(member)
      // The last pending member comes first.
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

  /// Removes all items and their documents.
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
