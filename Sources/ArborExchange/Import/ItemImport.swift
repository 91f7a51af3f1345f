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

  /// - Parameters:
  ///   - mapper: The compiled mappings, or `nil` to compile them.
  ///   - limit: The limits of the import, or `nil` for those of the context.
  init(
    _ entityName: String, into context: ManagedObjectContext, _ options: ImportOptions,
    by mapper: ImportMapper? = nil, _ limit: ExchangeLimit? = nil
  ) throws(ArborError) {
    self.options = options
    self.mapper = mapper ?? ImportMapper(context.store.schema, options)
    mapping = try self.mapper.mapping(for: context.store.schema.requireEntity(named: entityName))
    if let key = options.layout.itemKey { try mapping.scanner.supply(key) }
    plan = ExchangePlan(context, limit, drops: options.lenient ? ImportDrops() : nil)
    run = ExchangeRun(plan)
    if limit == nil { try plan.limit.checkNow() }
  }

  /// Imports a document as one object. Returns `nil` if it isn't a JSON object.
  func importObject(_ source: JSONSource) throws(ArborError) -> ManagedObject? {
    let document = try source.document(limits: options.limits, work: plan.limit.work)
    guard document.root.kind == .object else { return nil }
    defer { options.report?.add(findings()) }
    return try plan.context.withSavepoint { () throws(ArborError) in
      let root = JSONElements(only: document.root.tapeIndex, in: document)
      let object = try self.run.carryOut(self.plan.enterItems(root, self.mapping)).first
      try self.run.connectDeferred(unknownKey: .isError)
      return object
    }
  }

  /// Imports a document as one item into an existing object. Returns `false` if nothing changed.
  func importObject(_ source: JSONSource, into object: ManagedObject) throws(ArborError) -> Bool {
    let document = try source.document(limits: options.limits, work: plan.limit.work)
    defer { options.report?.add(findings()) }
    try plan.context.withSavepoint { () throws(ArborError) in
      let number = self.plan.enterMapping(self.mapping)
      if let item = try self.plan.enterItem(document.root, self.mapping, number) {
        try self.run.carryOutItem(item, into: object)
      }
      try self.run.connectDeferred(unknownKey: .isError)
    }
    return run.counts.updated > 0
  }

  /// Imports all items of a document.
  func importObjects(_ source: JSONSource) throws(ArborError) -> [ManagedObject] {
    var document = try ImportDocument(source, options, plan.limit)
    var unmet: UnmetNames?
    defer { options.report?.add(findings(unmet)) }
    return try plan.context.withSavepoint { () throws(ArborError) in
      var objects: [ManagedObject] = []
      var count = 0
      while let batch = try document.next(self.options.batchSize) {
        objects += try self.run.carryOut(self.plan.enterItems(batch.items, self.mapping))
        count += batch.items.count
      }
      if let problem = document.problem { self.plan.drops?.add { problem } }
      unmet = self.unmetNames(of: count)
      try self.check(unmet, of: count, in: document)
      try self.run.connectDeferred(unknownKey: .isError)
      return objects.eachOnce
    }
  }

  /// Plans a batch of items, which are imported later. Returns their indexes in the plan.
  func planBatch(_ batch: JSONBatch) throws(ArborError) -> [Int32] {
    // Used to add locations to the errors of a commit.
    run.itemsOfObjects = NumberMap()
    return try plan.enterItems(batch.items, mapping)
  }

  /// Returns the skipped values and items, and the names that were never found.
  func findings(_ unmet: UnmetNames? = nil) -> ImportFindings {
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
