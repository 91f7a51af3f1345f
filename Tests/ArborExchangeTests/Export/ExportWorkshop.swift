import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// A model with every kind of attribute and relationship, and random graphs of its objects.
enum ExportWorkshop {
  static let model = ManagedObjectModel(
    entities: [
      EntityDescription(
        name: "Thing", isAbstract: true,
        attributes: [
          AttributeDescription(name: "title", type: .string, defaultValue: "new"),
          AttributeDescription(name: "rank", type: .integer32, isOptional: true, defaultValue: 7),
        ],
        relationships: [
          RelationshipDescription(
            name: "tags", destination: "Tag", inverse: "things", isToMany: true)
        ]),
      EntityDescription(
        name: "Node", parent: "Thing", attributes: attributes,
        relationships: [
          RelationshipDescription(name: "parent", destination: "Node", inverse: "children"),
          RelationshipDescription(
            name: "children", destination: "Node", inverse: "parent", isToMany: true,
            isOrdered: true),
          RelationshipDescription(
            name: "peers", destination: "Node", inverse: "peers", isToMany: true),
          RelationshipDescription(name: "twin", destination: "Node", inverse: "twin"),
          RelationshipDescription(name: "hidden", destination: "Thing", isToMany: true),
          RelationshipDescription(name: "secret", destination: "Thing"),
          RelationshipDescription(
            name: "hiddenOrder", destination: "Leaf", isToMany: true, isOrdered: true),
          RelationshipDescription(name: "box", destination: "Box", inverse: "nodes"),
        ]),
      EntityDescription(
        name: "Leaf", parent: "Node",
        relationships: [
          RelationshipDescription(
            name: "before", destination: "Leaf", inverse: "after", isToMany: true, isOrdered: true),
          RelationshipDescription(
            name: "after", destination: "Leaf", inverse: "before", isToMany: true, isOrdered: true),
        ]),
      EntityDescription(
        name: "Box",
        attributes: [AttributeDescription(name: "size", type: .integer16, isOptional: true)],
        relationships: [
          RelationshipDescription(
            name: "nodes", destination: "Node", inverse: "box", isToMany: true),
          RelationshipDescription(name: "lid", destination: "Lid", inverse: "box"),
          RelationshipDescription(
            name: "shelf", destination: "Tag", inverse: "boxes", isToMany: true, isOrdered: true),
        ]),
      EntityDescription(
        name: "Lid",
        relationships: [RelationshipDescription(name: "box", destination: "Box", inverse: "lid")]),
      EntityDescription(
        name: "Tag",
        attributes: [AttributeDescription(name: "word", type: .string, isOptional: true)],
        relationships: [
          RelationshipDescription(
            name: "things", destination: "Thing", inverse: "tags", isToMany: true),
          RelationshipDescription(
            name: "boxes", destination: "Box", inverse: "shelf", isToMany: true),
        ]),
    ],
    composites: [
      CompositeDescription(
        name: "Point",
        attributes: [
          AttributeDescription(name: "x", type: .double, isOptional: true),
          AttributeDescription(name: "at", type: .date, isOptional: true),
          AttributeDescription(name: "label", type: .string, isOptional: true),
        ])
    ])

  static let attributes = [
    AttributeDescription(name: "short", type: .integer16, isOptional: true),
    AttributeDescription(name: "long", type: .integer64, isOptional: true, defaultValue: 3),
    AttributeDescription(name: "flag", type: .boolean, isOptional: true, defaultValue: true),
    AttributeDescription(name: "single", type: .float, isOptional: true),
    AttributeDescription(name: "real", type: .double, isOptional: true),
    AttributeDescription(name: "exact", type: .decimal, isOptional: true),
    AttributeDescription(name: "text", type: .string, isOptional: true),
    AttributeDescription(name: "when", type: .date, isOptional: true),
    AttributeDescription(
      name: "day", type: .date, isOptional: true, userInfo: ["DateFormat": "yyyy-MM-dd"]),
    AttributeDescription(
      name: "stamp", type: .date, isOptional: true, userInfo: ["DateFormat": "UnixTime"]),
    AttributeDescription(name: "bytes", type: .binary, isOptional: true),
    AttributeDescription(
      name: "blob", type: .binary, isOptional: true, allowsExternalStorage: true),
    AttributeDescription(name: "uuid", type: .uuid, isOptional: true),
    AttributeDescription(name: "link", type: .uri, isOptional: true),
    AttributeDescription(name: "packed", type: .transformable("Packing"), isOptional: true),
    AttributeDescription(name: "point", type: .composite("Point"), isOptional: true),
  ]

  static func makeContext() throws -> ManagedObjectContext {
    try PersistentStore(model: model, at: .inMemory).makeContext()
  }

  /// Exports the contents of a store, entity by entity.
  static func exported(
    _ context: ManagedObjectContext, as format: JSONExportFormat
  ) throws -> Data {
    var objects: [ManagedObject] = []
    for name in ["Box", "Lid", "Tag", "Thing"] {
      objects += try context.fetch(FetchRequest<ManagedObject>(entity: name))
    }
    return try context.export(objects, as: format)
  }

  /// Seeds an empty store with an export.
  static func seeded(_ data: Data, as format: JSONExportFormat) throws -> ManagedObjectContext {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "export.\(format.rawValue)")
    try data.write(to: url)
    let context = try makeContext()
    try withExtendedLifetime(folder) { _ = try context.seed(from: .file(url)) }
    return context
  }
}

/// Random values and links.
extension ExportWorkshop {
  static func fill(
    _ context: ManagedObjectContext, count: Int, using random: inout SeededRandom
  ) throws {
    var objects: [String: [ManagedObject]] = [:]
    for _ in 0..<count {
      let name = ["Node", "Leaf", "Leaf", "Box", "Lid", "Tag"].randomElement(using: &random) ?? ""
      objects[name, default: []].append(try context.insert(name))
    }
    // Gaps in the numbers, as deletions leave them.
    for name in objects.keys.sorted() where Bool.random(using: &random) {
      if let last = objects[name]?.popLast() { context.delete(last) }
    }
    objects["Node", default: []] += objects["Leaf", default: []]
    objects["Thing"] = objects["Node"]
    for name in ["Node", "Box", "Lid", "Tag"] {
      for object in objects[name, default: []].shuffled(using: &random) {
        try fill(object, from: objects, using: &random)
      }
    }
  }

  private static func fill(
    _ object: ManagedObject, from objects: [String: [ManagedObject]],
    using random: inout SeededRandom
  ) throws {
    for entity in model.lineage(of: object.entity) {
      for attribute in entity.attributes where Int.random(in: 0..<3, using: &random) > 0 {
        try object.setValue(value(attribute.type, using: &random), forKey: attribute.name)
      }
      for relationship in entity.relationships where Bool.random(using: &random) {
        let candidates = objects[relationship.destination, default: []].shuffled(using: &random)
        if relationship.isToMany {
          let members = candidates.prefix(Int.random(in: 0...4, using: &random))
          try object.objects(forKey: relationship.name).replaceAll(with: members)
        } else {
          try object.setObject(candidates.first, forKey: relationship.name)
        }
      }
    }
  }

  private static let texts = [
    "", "plain", "<uniqueID>", "é\u{301}", "\u{0}\u{1F}\"\\/", "😀\n\t", "$ref", "null", "1e5",
    "\u{2028}\u{FEFF}", String(repeating: "long ", count: 200),
  ]
  private static let reals = [
    0, -0.0, 1, 0.1, 1e16, 1e-7, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .pi,
    123_456_789.123_456_78,
  ]

  private static func value(
    _ type: AttributeType, using random: inout SeededRandom
  ) -> PropertyValue {
    switch type {
    case .integer16: .integer(Int64(Int16.random(in: .min ... .max, using: &random)))
    case .integer32: .integer(Int64(Int32.random(in: .min ... .max, using: &random)))
    case .boolean: .boolean(.random(using: &random))
    case .float: .double(Double(Float(bitPattern: finite32(using: &random))))
    case .double: .double(reals.randomElement(using: &random) ?? 0)
    case .decimal: .decimal(decimal(using: &random))
    case .string: .string(texts.randomElement(using: &random) ?? "")
    case .date: .date(date(using: &random))
    case .binary, .transformable: .binary(data(using: &random))
    case .uuid:
      .uuid(UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8") ?? UUID())
    case .uri: URL(string: "https://example.com/a%20b?c=d&e#f").map(PropertyValue.uri) ?? .null
    case .composite:
      .composite([
        // Attributes must be finite, but parts of composites need not be.
        "x": .double((reals + [.infinity, -.infinity]).randomElement(using: &random) ?? 0),
        "at": Bool.random(using: &random) ? .null : .date(date(using: &random)),
        "label": .string(texts.randomElement(using: &random) ?? ""),
      ])
    default: .integer(Int64.random(in: .min ... .max, using: &random))
    }
  }

  private static func finite32(using random: inout SeededRandom) -> UInt32 {
    let pattern = UInt32.random(in: 0...(.max), using: &random)
    return Float(bitPattern: pattern).isFinite ? pattern : 0x8000_0000
  }

  private static func decimal(using random: inout SeededRandom) -> Decimal {
    let digits = (0..<Int.random(in: 1...38, using: &random))
      .map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
    let exponent = Int.random(in: -60...60, using: &random)
    let sign = Bool.random(using: &random) ? "-" : ""
    return Decimal(string: "\(sign)\(digits)e\(exponent)") ?? 0
  }

  private static func date(using random: inout SeededRandom) -> Date {
    let seconds =
      switch Int.random(in: 0..<5, using: &random) {
      case 0: Double(Int.random(in: -1_000_000...1_000_000, using: &random)) * 86_400
      case 1: Double.random(in: -1e9...1e9, using: &random)
      case 2: Double.random(in: -1...1, using: &random) * 1e-9
      case 3: Double.random(in: -1e14...1e14, using: &random)
      default: Double(Int.random(in: 0...1_000_000_000, using: &random)) + 0.5
      }
    return Date(timeIntervalSinceReferenceDate: seconds)
  }

  private static func data(using random: inout SeededRandom) -> Data {
    let count = [0, 1, 2, 3, 100, 20_000].randomElement(using: &random) ?? 0
    return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
  }
}
