import ArborJSON
import ArborModel
import ArborObjects
import Foundation

/// The import of documents into one context.
struct ItemImport {
  let context: ManagedObjectContext
  private let options: ImportOptions
  private let mapper: ImportMapper
  private let mapping: ItemMapping
  var run: ItemRun

  init(
    _ entityName: String, into context: ManagedObjectContext, _ options: ImportOptions
  ) throws(ArborError) {
    self.context = context
    self.options = options
    let identities = IdentityMap(context)
    mapper = ImportMapper(context, identities, options)
    mapping = try mapper.mapping(for: entityName)
    run = ItemRun(context, identities)
    if let key = options.layout.itemKey {
      try mapping.supply(key)
      run.planner.areKeyed = true
    }
  }

  /// Imports a document as one object; nil where it is none.
  mutating func object(_ document: JSONDocument) throws(ArborError) -> ManagedObject? {
    guard document.root.kind == .object else { return nil }
    defer { options.report?.add(findings()) }
    return try whole { (self) throws(ArborError) in
      try self.run.run([document.root], self.mapping, isList: false).first
    }
  }

  /// Imports a document as one item into an object that is there; false where nothing has changed.
  mutating func item(
    _ document: JSONDocument, into object: ManagedObject
  ) throws(ArborError) -> Bool {
    defer { options.report?.add(findings()) }
    try whole { (self) throws(ArborError) in
      let items = try self.run.plan(
        [document.root], self.mapping, isList: false, needsIdentity: false)
      if let item = items.first { try self.run.carryOut(item, into: object) }
    }
    return run.counts.updated > 0
  }

  /// Imports all items of a document.
  mutating func objects(_ items: ImportItems) throws(ArborError) -> [ManagedObject] {
    var unmet: UnmetNames?
    defer { options.report?.add(findings(unmet)) }
    return try whole { (self) throws(ArborError) in
      var items = items
      var objects: [ManagedObject] = []
      var count = 0
      while let batch = try items.next(self.options.batchSize) {
        objects += try self.run.run(batch.items, self.mapping, isList: true)
        count += batch.items.count
      }
      if let problem = items.problem { self.mapper.drops?.add { problem } }
      let names = self.unmetNames
      if count > 0 { unmet = names }
      try self.check(names, of: count, in: items)
      return objects.eachOnce
    }
  }

  /// What was left out, and the names that led nowhere.
  func findings(_ unmet: UnmetNames? = nil) -> ImportFindings {
    var findings = mapper.drops?.findings ?? ImportFindings()
    findings.warnings = unmet?.warnings ?? []
    return findings
  }

  /// The names of the model that no item has had so far.
  var unmetNames: UnmetNames {
    UnmetNames(
      mapper.usedMappings,
      references: mapping.relationships.filter { $0.reference?.use.isMet == false })
  }

  /// Refuses an import of which no item had what the `ImportReference` of a mandatory relationship
  /// reads: it has connected nothing.
  func check(_ unmet: UnmetNames, of count: Int, in items: ImportItems) throws(ArborError) {
    guard count > 0, !items.mayDoNothing,
      let relationship = mapping.relationships.first(where: {
        !$0.relationship.isOptional && unmet.references.contains($0.relationship.name)
      }), let names = relationship.reference?.names
    else { return }
    let entity = mapping.entity.name
    let name = relationship.relationship.name
    throw ArborError(
      .invalidDocument,
      "The ImportReference of \(entity).\(name) reads \(UnmetNames.list(names)), which "
        + (count == 1 ? "the item has not" : "none of the \(count) items has")
        + "; write what the items have, or remove the note."
    ).with(entity: entity, keyPath: name, location: items.start)
  }

  /// Plans items; touches nothing in the context.
  mutating func plan(_ nodes: some Collection<JSONNode>) throws(ArborError) -> [Int32] {
    try run.plan(nodes, mapping, isList: true)
  }

  /// Connects what items have named by keys, when they have been carried out; returns what has to
  /// wait for later batches, where it may.
  @discardableResult
  mutating func finish(isLast: Bool = true) throws(ArborError) -> [PendingReference] {
    try run.connectNamed(unknownKey: isLast ? .isError : .waits, mapper.drops)
  }

  /// Takes up a relationship that an earlier batch had to leave.
  mutating func take(_ waiting: WaitingReference) throws(ArborError) {
    let mapping = try mapper.mapping(for: waiting.object.entityName)
    let relationship = mapping.relationships.first {
      $0.relationship.name == waiting.relationship
    }
    guard let relationship else { return }
    run.take(waiting, of: try context.object(with: waiting.object), relationship)
  }

  /// Runs an import so that it leaves nothing behind where it fails.
  private mutating func whole<R>(
    _ body: (inout ItemImport) throws(ArborError) -> R
  ) throws(ArborError) -> R {
    var copy = self
    let result = try context.withSavepoint { () throws(ArborError) in
      let result = try body(&copy)
      try copy.finish()
      return result
    }
    self = copy
    return result
  }

  static func encoded(_ value: some Encodable) throws(ArborError) -> Data {
    do {
      let encoder = JSONEncoder()
      encoder.dateEncodingStrategy = .iso8601
      return try encoder.encode(value)
    } catch {
      throw ArborError(
        .invalidArgument,
        "The value of \(type(of: value)) does not encode as JSON; see the error beneath."
      ).with(underlying: error)
    }
  }
}

extension JSONItemReader {
  /// A reader of the items of a document in memory, all of them in one batch.
  init(_ data: Data, _ options: ImportOptions, _ limit: ExchangeLimit) {
    self.init(
      .data(data), layout: options.layout.reading, limits: options.limits,
      chunkSize: max(data.count, 1), work: limit.work)
  }

  /// A reader of the items of a file.
  init(contentsOf url: URL, _ options: ImportOptions, _ limit: ExchangeLimit) throws(ArborError) {
    try self.init(
      .file(url), named: url.path, layout: options.layout.reading, limits: options.limits,
      chunkSize: Self.chunkSize, work: limit.work)
  }

  /// Large enough for a batch of common items.
  private static let chunkSize = 4 << 20
}
