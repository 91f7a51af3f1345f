import ArborJSON
import ArborModel
import ArborObjects

/// The import of items into one context, with mappings that are compiled once.
///
/// Belongs to one batch of an import that commits, otherwise to the whole import.
final class ItemImport {
  let run: ExchangeRun
  let mapping: ExchangeMapping
  private let plan: ExchangePlan
  private let options: ImportOptions
  private let mapper: ImportMapper
  /// The mappings of subentities for items of existing objects, compiled when first needed. Separate
  /// from ``mapper``, with which another thread may be planning the next batch.
  private lazy var refiningMapper = ImportMapper(plan.context.store.schema, options)
  private var unmet: UnmetNames?

  /// - Parameters:
  ///   - mapper: The compiled mappings, or `nil` to compile them.
  ///   - limit: The limits of the import, or `nil` for those of the context.
  ///   - skipped: The outermost items to skip.
  init(
    _ entityName: String, into context: ManagedObjectContext, _ options: ImportOptions,
    by mapper: ImportMapper? = nil, _ limit: ExchangeLimit? = nil,
    skipping skipped: [SkippedItem] = []
  ) throws(ArborError) {
    self.options = options
    self.mapper = mapper ?? ImportMapper(context.store.schema, options)
    mapping = try self.mapper.outermostMapping(
      for: context.store.schema.requireEntity(named: entityName))
    plan = ExchangePlan(context, limit, drops: options.lenient ? ImportDrops() : nil)
    run = ExchangeRun(plan)
    if options.lenient { run.trace = ItemTrace() }
    plan.skippedItems = Set(skipped.map(\.offset))
    for item in skipped { plan.drops?.add { item.error } }
    plan.refinement = { [unowned self] mapping, entity throws(ArborError) in
      try self.refiningMapper.mapping(for: entity, chosenAmong: mapping.listedEntity)
    }
    if limit == nil { try plan.limit.checkNow() }
  }

  /// Runs an import in a context, all or nothing. A lenient import is repeated without the items
  /// that cannot be imported or whose objects break rules, until none is left.
  static func perform<R>(
    _ entityName: String, into context: ManagedObjectContext, _ options: ImportOptions,
    _ body: (ItemImport) throws(ArborError) -> R
  ) throws(ArborError) -> R {
    var itemImport = try ItemImport(entityName, into: context, options)
    let mapper = itemImport.mapper
    var skipped: [SkippedItem] = []
    defer { options.report?.add(itemImport.findings()) }
    return try context.withSavepoint { () throws(ArborError) in
      while true {
        var found: [SkippedItem] = []
        do throws(ArborError) {
          return try context.withSavepoint { () throws(ArborError) in
            do throws(ArborError) {
              let result = try body(itemImport)
              if options.lenient { try itemImport.validate() }
              return result
            } catch {
              // The objects exist only inside the savepoint.
              found = itemImport.run.itemsToSkip(error)
              throw error
            }
          }
        } catch {
          guard !found.isEmpty else { throw error }
          skipped = (skipped + found).sorted { $0.offset < $1.offset }
          itemImport = try ItemImport(
            entityName, into: context, options, by: mapper, skipping: skipped)
        }
      }
    }
  }

  /// Throws if objects of items break rules. Broken rules of other objects are left to the commit.
  private func validate() throws(ArborError) {
    do throws(ArborError) {
      try plan.context.validateInSavepoint()
    } catch {
      let isBroken = [.validation, .notUnique].contains(error.code)
      if !isBroken || !run.itemsToSkip(error).isEmpty { throw error }
    }
  }

  /// Imports a document as one object. Returns `nil` if it isn't a JSON object.
  func importObject(_ source: JSONSource) throws(ArborError) -> ManagedObject? {
    let document = try source.document(limits: options.limits, work: plan.limit.work)
    guard document.root.kind == .object else { return nil }
    let root = JSONElements(only: document.root.tapeIndex, in: document)
    let object = try run.carryOut(plan.enterItems(root, mapping)).first
    try run.connectDeferred(unknownKey: .isError)
    return object
  }

  /// Imports a document as one item into an existing object. Returns `false` if nothing changed.
  func importObject(_ source: JSONSource, into object: ManagedObject) throws(ArborError) -> Bool {
    let document = try source.document(limits: options.limits, work: plan.limit.work)
    if plan.skippedItems.contains(document.root.offset) { return false }
    let number = plan.enterMapping(mapping)
    if let item = try plan.enterItem(document.root, mapping, number) {
      try run.carryOutItem(item, into: object)
    }
    try run.connectDeferred(unknownKey: .isError)
    return run.counts.updated > 0
  }

  /// Imports all items of a document.
  func importObjects(_ source: JSONSource) throws(ArborError) -> [ManagedObject] {
    var document = try ImportDocument(source, options, plan.limit)
    var objects: [ManagedObject] = []
    var count = 0
    while let batch = try document.next(options.batchSize) {
      objects += try run.carryOut(plan.enterItems(batch.items, mapping))
      count += batch.items.count
    }
    if let problem = document.problem { plan.drops?.add { problem } }
    unmet = unmetNames(of: count)
    try check(unmet, of: count, in: document)
    try run.connectDeferred(unknownKey: .isError)
    return objects.eachOnce
  }

  /// Plans a batch of items, which are imported later. Returns their indexes in the plan.
  func planBatch(_ batch: JSONBatch) throws(ArborError) -> [Int32] {
    // Used to add locations to the errors of a commit.
    run.itemsOfObjects = NumberMap()
    return try plan.enterItems(batch.items, mapping)
  }

  /// Returns the skipped values and items, and the names that were never found.
  func findings() -> ImportFindings {
    var findings = plan.drops?.findings ?? ImportFindings()
    findings.warnings = unmet?.warnings ?? []
    return findings
  }

  /// Returns the names in the model that were not found in any item, or `nil` if there were no
  /// items.
  func unmetNames(of count: Int) -> UnmetNames? {
    count > 0 ? UnmetNames(mapper.usedMappings, ofItems: mapping) : nil
  }

  /// Throws if no item had a key that the `ImportReference` of a mandatory relationship reads,
  /// because no object would be connected.
  func check(_ unmet: UnmetNames?, of count: Int, in document: ImportDocument) throws(ArborError) {
    guard !document.mayDoNothing,
      let relationship = unmet?.references.first(where: { !$0.isOptional }),
      let names = relationship.reference?.names
    else { return }
    let entity = mapping.entity.name
    throw ArborError(
      .invalidDocument,
      "The ImportReference of \(entity).\(relationship.name) reads \(UnmetNames.list(names)), "
        + "which " + (count == 1 ? "the item doesn't have" : "none of the \(count) items has")
        + ". Use a key of the items, or remove the entry."
    ).with(entity: entity, keyPath: relationship.name, location: document.start)
  }

  /// Resumes a relationship that an earlier batch could not connect.
  func resume(_ waiting: WaitingLink) throws(ArborError) {
    let context = plan.context
    let mapping = try mapper.mapping(
      for: context.store.schema.requireEntity(named: waiting.object.entityName))
    let index = mapping.relationships.firstIndex { $0.name == waiting.relationship }
    guard let index else { return }
    run.resume(waiting, of: try context.object(with: waiting.object), mapping, at: index)
  }
}
