public import ArborModel
public import ArborObjects
public import Foundation

extension ManagedObjectContext {
  /// Creates the objects that a document and the documents it links to describe. Nothing is
  /// committed.
  ///
  /// A document is one JSON object. With `seedlings` it is a list of links whose documents are read
  /// in its place; with `seeds` it is a list of documents; otherwise its one key names an entity
  /// and its value is an object or a list of objects, whose keys are properties of the entity:
  ///
  /// ```json
  /// {"Company": [{
  ///   "companyName": "Foo Inc.",
  ///   "companyID": "<uniqueID>",
  ///   "employees": {"seedlings": [{"seedFile": "Employees.seed.json"}]},
  ///   "address": {"city": "Berlin"}
  /// }]}
  /// ```
  ///
  /// Linked documents are files beside it (`seedFile`) or come over the network (`seedUrl`). An
  /// instance gets a label by `"$id"`, by which `{"$ref": "label"}` reaches it as the member of a
  /// relationship; `{"$find": "Department", "name": "R&D"}` reaches the one object with these
  /// values, whether the seed makes it or the context has it. A file named `.ndjson` or `.jsonl`
  /// holds a document on each line.
  ///
  /// The calling thread waits for documents from the network, half a minute for each at most.
  ///
  /// - Parameters:
  ///   - url: The document's file, or its URL of https or http.
  ///   - options: What the documents may reach and how large they may be.
  /// - Returns: What was created.
  /// - Throws: ``ArborError`` with source, line, column and JSON path where a document does not fit
  ///   the model, cannot be read or fetched, leaves its folder, links to itself or exceeds a limit.
  ///   The context is then exactly as it was before.
  /// - Complexity: Linear in the size of the documents and the number of objects.
  @discardableResult
  public func seed(
    from url: URL, options: SeedOptions = SeedOptions()
  ) throws(ArborError) -> SeedReport {
    try seed(from: [url], options: options)
  }

  /// Creates the objects that several documents describe, all or none of them. Nothing is
  /// committed.
  ///
  /// - Parameters:
  ///   - urls: The documents' files, each with its own folder to stay in, or their URLs. Labels
  ///     hold across all of them.
  ///   - options: What the documents may reach and how large they may be, together.
  /// - Returns: What was created.
  /// - Throws: ``ArborError`` as for a single document; the context is then exactly as it was
  ///   before.
  @discardableResult
  public func seed(
    from urls: [URL], options: SeedOptions = SeedOptions()
  ) throws(ArborError) -> SeedReport {
    let limit = ExchangeLimit(self)
    var reader = SeedReader(self, options, limit)
    let top = try urls.map { (url) throws(ArborError) in try reader.read(url) }
    let plan = try reader.finish()
    let run = ExchangeRun(plan, in: self, limit)
    try withSavepoint { () throws(ArborError) in try run.carryOutAll() }
    var report = SeedReport()
    report.documents = reader.documentsRead
    report.objects = plan.flattened(top).compactMap { member in
      if case .item(let index) = member { run.objects[Int(index)] } else { nil }
    }
    for item in plan.items { report.created[plan.mapping(of: item).entity.name, default: 0] += 1 }
    return report
  }
}
