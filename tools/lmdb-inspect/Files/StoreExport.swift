import ArborExchange
import ArborModel
import ArborObjects
import Foundation

/// Prints objects of a store as documents that `load` and seeds can read, one per line.
struct StoreExport {
  let path: String
  let entity: String?
  let predicate: String?
  let limit: Int?
  /// The attributes to mask, as `Entity.attribute`.
  let masks: [String]
  let maskKey: String

  func print(to printer: inout Printer) throws {
    var options = StoreOptions()
    options.isReadOnly = true
    let store: PersistentStore
    do throws(ArborError) {
      store = try PersistentStore(at: .file(URL(filePath: path)), options: options)
    } catch {
      throw InspectError.unreadable("\(path): \(error)")
    }
    defer { store.close() }
    let context = store.makeContext()
    do {
      var run = try ExportRun(context, depth: 0, mask: try mask(for: store.model))
      try context.withSnapshot {
        for request in try requests(for: store.model) {
          try run.add(try context.fetchIDs(request), areFetched: true)
        }
        _ = try run.write(as: .ndjson) { data throws(ArborError) in
          printer.write(bytes: Array(data))
        }
      }
    } catch let error as ArborError where error.code == .invalidPredicate {
      throw InspectError.notFound("--where: \(error)")
    }
  }

  private func requests(
    for model: ManagedObjectModel
  ) throws -> [FetchRequest<ManagedObject>] {
    guard let entity else {
      return model.entities.filter { !$0.isAbstract }.map { entity in
        var request = FetchRequest<ManagedObject>(entity: entity.name)
        request.includesSubentities = false
        return request
      }
    }
    guard model.entity(named: entity) != nil else {
      throw InspectError.unknownEntity(entity, among: model.entities.map(\.name))
    }
    var request = FetchRequest<ManagedObject>(
      entity: entity, predicate: predicate.map { FetchPredicate(stringLiteral: $0) })
    request.fetchLimit = limit ?? 0
    return [request]
  }

  private func mask(for model: ManagedObjectModel) throws -> ExportRun.Mask? {
    guard !masks.isEmpty else { return nil }
    // The masks by concrete entity and attribute name.
    var found: [String: [String: AttributeMask]] = [:]
    for name in masks {
      let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, let entity = model.entity(named: parts[0]),
        let attribute = model.lineage(of: entity).lazy.flatMap(\.attributes)
          .first(where: { $0.name == parts[1] })
      else {
        throw InspectError.notFound(
          "--mask: \(path) has no attribute “\(name)”. Write it as Entity.attribute.")
      }
      guard AttributeMask.canMask(attribute.type) else {
        throw InspectError.notFound(
          "--mask: values of \(name) cannot be masked. Omit the option, or mask another attribute.")
      }
      let mask = AttributeMask(attribute: attribute, key: maskKey)
      for concrete in model.entities
      where model.lineage(of: concrete).contains(where: { $0.name == entity.name }) {
        found[concrete.name, default: [:]][attribute.name] = mask
      }
    }
    return { entity, attribute, value in found[entity]?[attribute]?.masked(value) ?? value }
  }
}
