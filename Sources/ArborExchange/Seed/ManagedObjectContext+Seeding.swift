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
  /// - Parameters:
  ///   - url: The document's file.
  ///   - options: What the documents may reach and how large they may be.
  /// - Returns: What was created.
  /// - Throws: ``ArborError`` with source, line, column and JSON path where a document does not fit
  ///   the model, cannot be read, leaves its folder, links to itself or exceeds a limit. The
  ///   context is then exactly as it was before.
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
  ///   - urls: The documents' files, each with its own folder to stay in.
  ///   - options: What the documents may reach and how large they may be, together.
  /// - Returns: What was created.
  /// - Throws: ``ArborError`` as for a single document; the context is then exactly as it was
  ///   before.
  @discardableResult
  public func seed(
    from urls: [URL], options: SeedOptions = SeedOptions()
  ) throws(ArborError) -> SeedReport {
    var reader = SeedReader(schema: ExchangeSchema(store.model), options: options)
    var top: [PlannedSource] = []
    for url in urls { top.append(try reader.read(url)) }
    var run = ExchangeRun(reader.plan, in: self)
    try withSavepoint { () throws(ArborError) in try run.run() }
    var report = SeedReport()
    report.documents = reader.documentsRead
    report.objects = reader.plan.objects(of: top).map { run.objects[$0] }
    for planned in reader.plan.objects { report.created[planned.entity.name, default: 0] += 1 }
    return report
  }
}
