internal import TestLength
package import ArborModel
internal import Foundation

/// A generator of valid random models that use every feature, from a seed.
package struct RandomModel {
  private var random: SplitMix
  private var names = 0

  package init(seed: UInt64) { random = SplitMix(seed: seed) }

  private mutating func chance(_ percent: Int = 30) -> Bool {
    Int.random(in: 0..<100, using: &random) < percent
  }

  private mutating func name(_ prefix: String) -> String {
    names += 1
    return prefix + String(names) + (chance(10) ? "_é" : "")
  }

  private mutating func text() -> String {
    let pieces = ["a", "Z", " ", "\"", "<", "&amp;", "\n", "é", "\u{1F600}", "\\", "'", "7"]
    return (0..<Int.random(in: 0...6, using: &random)).map { _ in
      pieces.randomElement(using: &random) ?? ""
    }.joined()
  }

  private mutating func notes() -> [String: String] {
    chance(20) ? ["key": text(), name("n"): text()] : [:]
  }

  package mutating func model() -> ManagedObjectModel {
    let entityNames = (0..<Int.random(in: 1...6, using: &random)).map { _ in name("E") }
    let composites = (0..<2).map { _ in
      CompositeDescription(
        name: name("C"), attributes: (0...1).map { _ in attribute(composites: []) })
    }
    var entities = entityNames.enumerated().map { index, name in
      entity(
        name, parents: Array(entityNames.prefix(index)), composites: composites.map(\.name))
    }
    for _ in 0..<Int.random(in: 0...6, using: &random) { relate(&entities) }
    for index in entities.indices { addIndexes(to: &entities[index]) }
    let templates = (0..<Int.random(in: 0...2, using: &random)).map { _ in
      template(name("t"), entityNames)
    }
    return ManagedObjectModel(
      entities: entities, fetchRequestTemplates: templates,
      configurations: chance() ? ["Part": [entityNames[0]]] : [:], composites: composites,
      versionIdentifier: chance() ? text() : "")
  }

  private mutating func entity(
    _ name: String, parents: [String], composites: [String]
  ) -> EntityDescription {
    EntityDescription(
      name: name, className: chance() ? "Module.\(name)" : nil, isAbstract: chance(20),
      parent: chance() ? parents.randomElement(using: &random) : nil,
      attributes: (0..<Int.random(in: 0...6, using: &random)).map { _ in
        attribute(composites: composites)
      }, userInfo: notes(), renamingIdentifier: chance(10) ? "Former" : nil,
      versionHashModifier: chance(10) ? text() : nil,
      fetchedProperties: chance(20)
        ? [
          FetchedPropertyDescription(
            name: self.name("f"), isOptional: chance(), request: template("q", [name]),
            userInfo: notes())
        ] : [])
  }

  private mutating func attribute(composites: [String]) -> AttributeDescription {
    var types: [AttributeType] = [
      .integer16, .integer32, .integer64, .boolean, .float, .double, .decimal, .string, .date,
      .binary, .uuid, .uri, .transformable("T"), .transformable(""), .undefined,
      .json,
    ]
    types += composites.map(AttributeType.composite)
    let type = types.randomElement(using: &random) ?? .string
    var attribute = AttributeDescription(
      name: name("a"), type: type, isOptional: chance(50),
      isTransient: type == .undefined || chance(10), isIndexed: chance(),
      allowsExternalStorage: type != .json && chance(10),
      renamingIdentifier: chance(10) ? "former" : nil,
      versionHashModifier: chance(10) ? "m" : nil, valueClassName: chance(10) ? "[Int]" : nil,
      isPreservedOnDeletion: chance(10), userInfo: notes())
    if type == .json, chance(70) { attribute.shape = shape(levels: 4) }
    if chance(50) {
      attribute.defaultValue = attribute.shape.map { self.value(of: $0) } ?? value(of: type)
    }
    if type == .string, attribute.defaultValue.isNull, chance() {
      attribute.minimum = .integer(1)
      attribute.maximum = .integer(Int64.random(in: 1...99, using: &random))
      attribute.regularExpression = "[a-z]+|\"<&"
    }
    return attribute
  }

  /// Returns a value that can also be represented in XML.
  private mutating func value(of type: AttributeType) -> PropertyValue {
    switch type {
    case .integer16: .integer(Int64(Int16.random(in: .min ... .max, using: &random)))
    case .integer32: .integer(Int64(Int32.random(in: .min ... .max, using: &random)))
    case .integer64: .integer(.random(in: .min ... .max, using: &random))
    case .boolean: .boolean(.random(using: &random))
    case .float: .double(Double(Float.random(in: -1e9...1e9, using: &random)))
    case .double: .double(.random(in: -1e300...1e300, using: &random))
    case .decimal: .decimal(Decimal(Int.random(in: -999_999...999_999, using: &random)) / 1000)
    case .string, .undefined: .string(text())
    case .date:
      .date(Date(timeIntervalSinceReferenceDate: .random(in: -1e9...9e8, using: &random)))
    case .uuid: .uuid(UUID())
    case .uri: URL(string: "https://example.org/\(names)").map(PropertyValue.uri) ?? .null
    case .json: .composite(["a": .list([.string(text()), .integer(1), .double(0.5)])])
    case .binary, .transformable, .composite: .null
    }
  }

  private mutating func shape(levels: Int) -> JSONShape {
    switch Int.random(in: 0..<(levels > 1 ? 10 : 5), using: &random) {
    case 0: return .any
    case 1: return .cases([.string(text()), "b"])
    case 2: return .cases([1, -7, .integer(.max)])
    case 3, 4:
      return JSONShape.Scalar.all.randomElement(using: &random).map(JSONShape.scalar) ?? .any
    case 5: return .list(shape(levels: levels - 1))
    case 6: return .map(shape(levels: levels - 1))
    case 7: return .optional(shape(levels: levels - 1))
    default:
      return .object(
        (0..<Int.random(in: 0...3, using: &random)).reduce(into: [:]) { members, _ in
          members[text()] = shape(levels: levels - 1)
        })
    }
  }

  /// Returns a value that fits a structure.
  private mutating func value(of shape: JSONShape) -> PropertyValue {
    switch shape {
    case .any: return [.string(text()), 1, .null]
    case .scalar(.boolean): return .boolean(.random(using: &random))
    case .scalar(.integer): return 7
    case .scalar(.float), .scalar(.double), .scalar(.decimal), .scalar(.date): return 0.5
    case .scalar(.string): return .string(text())
    case .scalar(.uuid): return .string(UUID().uuidString)
    case .scalar(.uri): return "https://example.org"
    case .scalar(.binary): return "AQI="
    case .cases(let cases): return cases.randomElement(using: &random) ?? .null
    case .object(let members): return .composite(members.mapValues { value(of: $0) })
    case .list(let element): return [value(of: element), value(of: element)]
    case .map(let member): return .composite([text(): value(of: member)])
    case .optional(let shape): return chance() ? .null : value(of: shape)
    }
  }

  private mutating func template(_ name: String, _ entities: [String]) -> FetchRequestTemplate {
    FetchRequestTemplate(
      name: name, entity: entities.randomElement(using: &random) ?? "",
      predicate: chance(50) ? "objectID == $id AND NOT objectID IN {\"<\", \"&\"}" : nil,
      fetchLimit: chance() ? 7 : 0, fetchBatchSize: chance() ? 3 : 0,
      includesSubentities: chance(50), includesPendingChanges: chance(50),
      returnsDistinctResults: chance(), resultType: chance() ? .rows : .objects)
  }

  /// Adds a pair of relationships, one that is its own inverse, or one without an inverse.
  private mutating func relate(_ entities: inout [EntityDescription]) {
    let (from, to) = (
      Int.random(in: entities.indices, using: &random),
      Int.random(in: entities.indices, using: &random)
    )
    let (there, back) = (name("r"), name("r"))
    let hasInverse = chance(80)
    entities[from].relationships.append(
      relationship(there, to: entities[to].name, inverse: hasInverse ? back : nil))
    guard hasInverse else { return }
    entities[to].relationships.append(
      relationship(back, to: entities[from].name, inverse: there))
  }

  private mutating func relationship(
    _ name: String, to destination: String, inverse: String?
  ) -> RelationshipDescription {
    let isToMany = chance(60)
    let rules = RelationshipDescription.DeleteRule.allCases
    return RelationshipDescription(
      name: name, destination: destination, inverse: inverse, isToMany: isToMany,
      isOrdered: isToMany && chance(), minimumCount: isToMany && chance() ? 1 : 0,
      maximumCount: isToMany && chance() ? 5 : 0,
      deleteRule: rules.randomElement(using: &random) ?? .nullify, isOptional: chance(60),
      isTransient: chance(10), renamingIdentifier: chance(10) ? "former" : nil,
      versionHashModifier: chance(10) ? "m" : nil, userInfo: notes())
  }

  private mutating func addIndexes(to entity: inout EntityDescription) {
    let columns = entity.attributes.filter { !$0.isTransient }
      .filter {
        switch $0.type {
        case .composite, .json: false
        default: true
        }
      }.map(\.name)
    guard columns.count > 1 else { return }
    let outside = Set(entity.attributes.filter(\.allowsExternalStorage).map(\.name))
    if chance(), outside.isDisjoint(with: columns.prefix(2)) {
      entity.uniquenessConstraints = [[columns[0]], Array(columns.prefix(2))]
    }
    if chance() {
      entity.fetchIndexes.append(
        FetchIndexDescription(
          name: name("i"),
          elements: [
            .init(columns[1], isAscending: chance(50), kind: chance() ? .rTree : .binary),
            .init(columns[0]),
          ], partialIndexPredicate: chance(20) ? "\(columns[0]) != nil" : nil,
          isUnique: chance(20)))
    }
    let texts = entity.attributes.filter { !$0.isTransient && $0.type == .string }.map(\.name)
    guard let text = texts.first, chance(50) else { return }
    entity.fetchIndexes += [
      FetchIndexDescription(
        name: name("i"), elements: [.init(text, kind: .text)],
        partialIndexPredicate: chance(20) ? "\(text) != nil" : nil),
      FetchIndexDescription(
        name: name("i"), elements: [.init(text, isAscending: chance(50), kind: .folded)],
        isUnique: chance(20)),
    ]
  }
}
