import ArborBrowser
import ArborJSON
import ArborModel
import ArborStore

/// An object of a store, decoded with the store's own model.
struct DecodedObject {
  let number: ObjectNumber
  let entity: EntitySchema
  let version: UInt32
  /// The stored attributes in the model's order.
  let attributes: [(name: String, value: PropertyValue)]
  /// The to-one relationships in the model's order.
  let targets: [(name: String, target: ObjectNumber?)]
  private let schema: ModelSchema

  init?(_ number: ObjectNumber, _ record: RecordView, in store: StoreEngine) {
    guard let entity = store.schema.entity(of: number) else { return nil }
    self.number = number
    self.entity = entity
    schema = store.schema
    version = record.version
    attributes = entity.attributes.filter { !$0.description.isTransient }
      .map { attribute in
        // Only the length of a separately stored binary is shown.
        if let blob = record.blob(attribute.field) {
          return (attribute.name, .composite(["bytes": .integer(Int64(clamping: blob.length))]))
        }
        return (attribute.name, record.value(attribute.field))
      }
    targets = entity.relationships.compactMap { relationship in
      guard case .field(let index) = relationship.storage, !relationship.isHidden else {
        return nil
      }
      return (relationship.name, record.reference(entity.layout.fields[index]))
    }
  }

  /// Returns `Entity/number`, the form accepted by `show`.
  static func name(_ number: ObjectNumber, in schema: ModelSchema) -> String {
    "\(schema.entity(of: number)?.name ?? "?")/\(number.sequence)"
  }

  var name: String { Self.name(number, in: schema) }

  /// Returns the object as JSON. `members` are the to-many relationships to include.
  func json(members: [(name: String, numbers: [ObjectNumber])] = []) -> JSONValue {
    var values = JSONObject()
    for (name, value) in attributes { values[name] = ValueText.json(value) }
    var links = JSONObject()
    for (name, target) in targets {
      links[name] = target.map { .string(Self.name($0, in: schema)) } ?? .null
    }
    for (name, numbers) in members {
      links[name] = .array(numbers.map { .string(Self.name($0, in: schema)) })
    }
    return [
      "id": .string(name), "entity": .string(entity.name),
      "number": JSONValue(Int(number.sequence)), "version": JSONValue(Int(version)),
      "attributes": .object(values), "relationships": .object(links),
    ]
  }

  /// The object without nested objects, for delimited rows.
  var row: JSONObject {
    var row: JSONObject = [IdentityColumn.name: .string(name)]
    for (name, value) in attributes { row[name] = ValueText.json(value) }
    for (name, target) in targets {
      row[name] = target.map { .string(Self.name($0, in: schema)) } ?? .null
    }
    return row
  }

  /// Returns the values as a line of text, with the labels of related objects.
  func values(_ labels: ObjectLabels) -> String {
    let values = attributes.map { "\($0.name)=\(ValueText.text($0.value))" }
    let links = targets.map { (name, target) in "\(name)=\(target.map(labels.text) ?? "nil")" }
    return (values + links).joined(separator: "  ")
  }
}
