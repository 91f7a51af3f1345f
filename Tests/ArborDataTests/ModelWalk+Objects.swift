import ArborData
import Foundation
import TestSupport
import Testing

/// The objects of a randomly changing model.
extension ModelWalk {
  mutating func value(_ type: AttributeType) -> PropertyValue {
    let number = Int64.random(in: -99...99, using: &random)
    return switch type {
    case .integer16, .integer32, .integer64: .integer(number)
    case .boolean: .boolean(number > 0)
    case .string: .string("text \(number)")
    case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number) / 4))
    case .uuid: .uuid(UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, UInt8(number + 99))))
    case .float, .double: .double(Double(number) / 4)
    case .decimal: .decimal(Decimal(number) / 4)
    case .binary: .binary(Data([1, 2, UInt8(number + 99)]))
    default: .null
    }
  }

  /// Inserts objects, and changes values and links of some.
  mutating func edit(
    _ context: ManagedObjectContext, _ plain: inout PlainObjects, inserting count: Int = 3
  ) throws {
    for entity in model.entities where !entity.isAbstract {
      let attributes = attributes(of: entity)
      for _ in 0..<count {
        lastID += 1
        let object = try context.insert(entity.name)
        for attribute in attributes {
          let value: PropertyValue =
            attribute.name == "id"
            ? .integer(lastID)
            : attribute.isOptional && Int.random(in: 0..<4, using: &random) == 0
              ? .null : value(attribute.type)
          object[attribute.name] = value
          plain.values[entity.name, default: [:]][lastID, default: [:]][attribute.name] = value
        }
      }
      let objects = try context.fetch(
        FetchRequest<ManagedObject>(entity: entity.name, sortKeys: ["id"]))
      guard let object = objects.randomElement(using: &random) else { continue }
      let id: Int64 = object["id"]
      for attribute in attributes.dropFirst() where Bool.random(using: &random) {
        let value = value(attribute.type)
        object[attribute.name] = value
        plain.values[entity.name]?[id]?[attribute.name] = value
      }
    }
    try link(context, &plain)
  }

  private mutating func link(_ context: ManagedObjectContext, _ plain: inout PlainObjects) throws {
    for entity in model.entities where !entity.isAbstract {
      let owners = try context.fetch(
        FetchRequest<ManagedObject>(entity: entity.name, sortKeys: ["id"]))
      for relationship in entity.relationships {
        let targets = try context.fetch(
          FetchRequest<ManagedObject>(entity: relationship.destination, sortKeys: ["id"]))
        guard let owner = owners.randomElement(using: &random) else { continue }
        let members = targets.shuffled(using: &random).prefix(relationship.isToMany ? 3 : 1)
        if relationship.isToMany {
          owner[relationship.name] = Array(members)
        } else {
          owner[relationship.name] = members.first
        }
      }
    }
    // Both ends of the links, as the context has them.
    for entity in model.entities where !entity.isAbstract {
      for object in try context.fetch(FetchRequest<ManagedObject>(entity: entity.name)) {
        let id: Int64 = object["id"]
        for relationship in entity.relationships {
          let ids: [Int64] =
            relationship.isToMany
            ? (object[relationship.name] as [ManagedObject]).map { $0["id"] }
            : (object[relationship.name] as ManagedObject?).map { [$0["id"]] } ?? []
          plain.links[entity.name, default: [:]][id, default: [:]][relationship.name] =
            relationship.isOrdered ? ids : ids.sorted()
        }
      }
    }
  }
}
