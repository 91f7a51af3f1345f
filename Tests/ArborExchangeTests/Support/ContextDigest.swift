import ArborModel
import ArborObjects

extension ManagedObjectContext {
  /// Returns all visible values, links and pending changes of the context. Equal digests mean
  /// indistinguishable states.
  func digest() throws -> [String] {
    var lines = [
      "\(insertedObjects.count) \(updatedObjects.count) \(deletedObjects.count) \(hasChanges)"
    ]
    let model = store.model
    for entity in model.entities where !entity.isAbstract {
      let objects = try fetch(FetchRequest<ManagedObject>(entity: entity.name))
      for object in objects.sorted(by: { $0.objectID.number < $1.objectID.number })
      where object.entity.name == entity.name {
        var line = "\(object.objectID)"
        for ancestor in model.lineage(of: entity) {
          for name in ancestor.attributes.map(\.name) + ancestor.relationships.map(\.name) {
            line += " \(name)=\(try object.value(forKey: name))"
          }
        }
        lines.append(line)
      }
    }
    return lines
  }
}
