import ArborJSON
import ArborModel
import ArborObjects

/// The import of items into one context, by mappings that are compiled once.
///
/// Belongs to one batch of an import that commits, else to the whole import.
final class ItemImport {
  let context: ManagedObjectContext
  let run: ExchangeRun
  private let options: ImportOptions
  private let mapper: ImportMapper
  let mapping: ExchangeMapping
  let planner: ItemPlanner
  private let plan: ExchangePlan

  /// - Parameters:
  ///   - limit: Ends the planning.
  ///   - mapper: The compiled mappings; `nil` to compile them now.
  init(
    _ entityName: String, into context: ManagedObjectContext, _ options: ImportOptions,
    _ limit: ExchangeLimit, by mapper: ImportMapper? = nil
  ) throws(ArborError) {
    self.context = context
    self.options = options
    self.mapper = mapper ?? ImportMapper(context.store.schema, options)
    mapping = try self.mapper.mapping(for: entityName)
    if let key = options.layout.itemKey { try mapping.scanner.supply(key) }
    plan = ExchangePlan(context, drops: options.lenient ? ImportDrops() : nil)
    planner = ItemPlanner(plan, limit, areKeyed: options.layout.itemKey != nil)
    run = ExchangeRun(plan, in: context, limit)
  }

  /// Imports a document as one object; `nil` if it is not one.
  func object(_ document: JSONDocument) throws(ArborError) -> ManagedObject? {
    guard document.root.kind == .object else { return nil }
    defer { options.report?.add(findings()) }
    return try whole { () throws(ArborError) in
      guard let item = try self.planner.single(document.root, self.mapping) else { return nil }
      return try self.run.carryOut([item]).first
    }
  }

  /// Imports a document as one item into an object that exists; false if nothing has changed.
  func item(_ document: JSONDocument, into object: ManagedObject) throws(ArborError) -> Bool {
    defer { options.report?.add(findings()) }
    try whole { () throws(ArborError) in
      guard let item = try self.planner.item(document.root, self.mapping) else { return }
      try self.run.carryOut(item, into: object)
    }
    return run.counts.updated > 0
  }

  /// Imports all items of a document.
  func objects(_ document: ImportItems) throws(ArborError) -> [ManagedObject] {
    var unmet: UnmetNames?
    defer { options.report?.add(findings(unmet)) }
    return try whole { () throws(ArborError) in
      var items = document
      var objects: [ManagedObject] = []
      var count = 0
      while let batch = try items.next(self.options.batchSize) {
        objects += try self.run.carryOut(self.planner.items(batch.items, self.mapping))
        count += batch.items.count
      }
      if let problem = items.problem { self.plan.drops?.add { problem } }
      unmet = self.unmetNames(of: count)
      if let unmet { try self.check(unmet, of: count, in: items) }
      return objects.eachOnce
    }
  }

  /// What was left out, and the names that led nowhere.
  func findings(_ unmet: UnmetNames? = nil) -> ImportFindings {
    var findings = plan.drops?.findings ?? ImportFindings()
    findings.warnings = unmet?.warnings ?? []
    return findings
  }

  /// The names of the model that no item has had; `nil` if there were no items.
  func unmetNames(of count: Int) -> UnmetNames? {
    count > 0 ? UnmetNames(mapper.usedMappings, ofItems: mapping) : nil
  }

  /// Refuses an import of which no item had what the `ImportReference` of a mandatory relationship
  /// reads: it has connected nothing.
  func check(_ unmet: UnmetNames, of count: Int, in items: ImportItems) throws(ArborError) {
    guard !items.mayDoNothing, let relationship = unmet.references.first(where: { !$0.isOptional }),
      let names = relationship.reference?.names
    else { return }
    let entity = mapping.entity.name
    throw ArborError(
      .invalidDocument,
      "The ImportReference of \(entity).\(relationship.name) reads \(UnmetNames.list(names)), "
        + "which " + (count == 1 ? "the item has not" : "none of the \(count) items has")
        + "; write what the items have, or remove the note."
    ).with(entity: entity, keyPath: relationship.name, location: items.start)
  }

  /// Resumes a relationship that an earlier batch had to leave.
  func resume(_ waiting: WaitingLink) throws(ArborError) {
    let mapping = try mapper.mapping(for: waiting.object.entityName)
    let index = mapping.relationships.firstIndex { $0.name == waiting.relationship }
    guard let index else { return }
    run.resume(waiting, of: try context.object(with: waiting.object), mapping, at: index)
  }

  /// Runs an import so that it leaves nothing behind if it fails.
  private func whole<R>(_ body: () throws(ArborError) -> R) throws(ArborError) -> R {
    try context.withSavepoint { () throws(ArborError) in
      let result = try body()
      try self.run.connectDeferred(unknownKey: .isError)
      return result
    }
  }
}
