import ArborModel
import ArborObjects
import Foundation

/// The import of one document.
struct ItemImport {
  private let document: JSONDocument
  private let entityName: String
  private let options: ImportOptions

  init(_ document: JSONDocument, _ entityName: String, _ options: ImportOptions) {
    self.document = document
    self.entityName = entityName
    self.options = options
  }

  /// Imports the document as one object; nil where it is none.
  func object(in context: ManagedObjectContext) throws(ArborError) -> ManagedObject? {
    try run(document.root.kind == .object ? [document.root] : [], in: context, isList: false).first
  }

  /// Imports the document as a list of objects; none where it is no list.
  func objects(in context: ManagedObjectContext) throws(ArborError) -> [ManagedObject] {
    try run(document.root.elements ?? [], in: context, isList: true)
  }

  private func run(
    _ nodes: [JSONNode], in context: ManagedObjectContext, isList: Bool
  ) throws(ArborError) -> [ManagedObject] {
    let identities = IdentityMap(context)
    let mapper = ImportMapper(context.store.model, identities, options)
    let mapping = try mapper.mapping(for: entityName)
    return try context.withSavepoint { () throws(ArborError) in
      var planner = ItemPlanner()
      let items = try planner.items(nodes, mapping, isList: isList)
      try identities.fetch()
      var run = ItemRun(context, identities)
      return try run.run(items)
    }
  }

  /// A value as JSON.
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
