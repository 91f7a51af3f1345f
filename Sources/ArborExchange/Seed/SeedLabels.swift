import ArborJSON
import ArborModel

/// The labels of a seed: `$id` names an instance, and `$ref` reaches it from anywhere, from before
/// it and from other documents.
struct SeedLabels {
  /// The index in the plan of each labelled instance, and the location of its label.
  private var instances: [String: (item: Int32, node: JSONNode)] = [:]
  /// Each `$ref`, with a label that is not empty, and the relationship that it is in.
  private var references: [(node: JSONNode, relationship: MappedRelationship)] = []

  mutating func define(
    _ node: JSONNode, as item: Int32, of entity: EntitySchema
  ) throws(ArborError) {
    guard let label = node.string, !label.isEmpty else {
      throw node.error(
        "An $id is a label of one character or more, and this is \(node.kind); write a string."
      ).with(entity: entity.name)
    }
    if let first = instances.updateValue((item, node), forKey: label) {
      throw node.error(
        "The label “\(label)” names an instance already, at \(first.node.location); give this one "
          + "another."
      ).with(entity: entity.name)
    }
  }

  /// Notes a reference; returns its number in the plan.
  mutating func note(_ node: JSONNode, _ relationship: MappedRelationship) -> Int32 {
    references.append((node, relationship))
    return Int32(references.count - 1)
  }

  /// The instances that the references name, once all documents are read.
  ///
  /// - Throws: ``ArborError`` `invalidDocument` where a label is unknown, or its instance does not
  ///   fit the relationship.
  func resolve(in plan: ExchangePlan) throws(ArborError) -> [Int32] {
    var items: [Int32] = []
    items.reserveCapacity(references.count)
    for reference in references {
      let label = reference.node.string ?? ""
      let relationship = reference.relationship
      guard let instance = instances[label] else {
        throw reference.node.error(
          "No instance of the seed has the label “\(label)”; give it to one by $id." + hint(label)
        ).with(entity: relationship.entityName, keyPath: relationship.name)
      }
      let entity = plan.mapping(of: plan.items[Int(instance.item)]).entity
      guard entity.isKind(of: relationship.destination) else {
        throw reference.node.error(
          "\(relationship.entityName).\(relationship.name) takes \(relationship.destination.name), and "
            + "“\(label)” is of \(entity.name), at \(instance.node.location); name another "
            + "instance."
        ).with(entity: relationship.entityName, keyPath: relationship.name)
      }
      items.append(instance.item)
    }
    return items
  }

  /// The label that was meant. Comparing each with each takes time, which a document that was made
  /// to be slow does not get.
  private func hint(_ label: String) -> String {
    guard instances.count <= 1_000, label.utf8.count <= 64 else { return "" }
    return NearestName.hint(label, in: instances.keys.sorted())
  }
}
