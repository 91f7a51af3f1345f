import ArborData
import Foundation
import TestLength
import TestSupport
import Testing

/// Random documents with dates, numbers, nulls, odd keys and shared members are imported through
/// the notes of a model, a sync and value models. After each document the store has the same
/// contents as a naive importer, which uses dictionaries and shares no code with the library.
///
/// `ARBOR_LONG_TESTS=1` imports 5,000 documents with each of them instead of a few hundred.
@Suite("Random imports") struct ImportDifferentialTests {
  private static let documents = TestLength.of(400, long: 5_000)
  private static let documentsPerStore = 20

  @Test("Random imports agree with the naive importer", arguments: NaiveImporter.Way.allCases)
  func everyWayAgreesWithTheNaiveImporter(way: NaiveImporter.Way) throws {
    let first: UInt64 = TestLength.isLong ? SeededRandom().seed : 1_500_000
    for number in 0..<UInt64(Self.documents / Self.documentsPerStore) {
      if let disagreement = try Self.disagreement(seed: first &+ number, way) {
        Issue.record("\(disagreement)")
        return
      }
    }
  }

  @Test("A wrong import is detected", arguments: NaiveImporter.Way.allCases)
  func noticesAWrongImport(way: NaiveImporter.Way) throws {
    let found = try (0..<5).contains {
      try Self.disagreement(seed: $0, way, isDistorted: true) != nil
    }
    #expect(found)
  }

  /// Imports documents into a new store; returns the first disagreement with the naive importer.
  ///
  /// - Parameter isDistorted: Whether the naive importer receives other documents.
  private static func disagreement(
    seed: UInt64, _ way: NaiveImporter.Way, isDistorted: Bool = false
  ) throws -> String? {
    var dice = SplitMix(seed: seed)
    let store = try PersistentStore(model: ImportTrial.model(), at: .inMemory)
    let context = store.makeContext()
    var naive = NaiveImporter()
    for _ in 0..<documentsPerStore {
      let document = RandomItems.document(&dice)
      var options = NaiveImporter.Options()
      options.policy = ImportMergePolicy.allCases.randomElement(using: &dice) ?? .merge
      options.clearsAbsent = Bool.random(using: &dice)
      options.deletesMissing = Bool.random(using: &dice)
      try ImportTrial.run(way, Data(document.text.utf8), options, in: context)
      naive.run(way, isDistorted ? document.items.dropLast() : document.items, options)
      let found = try ImportTrial.state(of: context)
      guard found == naive.state else {
        let lines = Set(found).symmetricDifference(naive.state).sorted()
        return "seed \(seed), \(way), \(options): \(document.text)\n"
          + lines.joined(separator: "\n")
      }
      if Bool.random(using: &dice) { try context.commit() }
      if Int.random(in: 0..<4, using: &dice) == 0 {
        try context.commit()
        context.reset()
      }
    }
    try context.commit()
    try store.check()
    return nil
  }
}

// MARK: Documents

/// The content of a property in a document.
enum Said<Content> {
  case absent
  case null
  case some(Content)

  var isAbsent: Bool { if case .absent = self { true } else { false } }
}

/// A part, a tag or a person, with an identity and a label.
struct RandomMember {
  var id: Int
  var label: Said<String>
}

/// An item as generated.
struct RandomItem {
  var id: Int
  /// The values of attributes as they appear in the store's state.
  var values: [String: Said<String>]
  var owner: Said<RandomMember>
  var tags: Said<[RandomMember]>
  var parts: Said<[RandomMember]>
}

enum RandomItems {
  static let attributes = ["height", "name", "open", "price", "when"]
  private static let keys = [
    "height": "\"Height, cm\"", "name": "\"API.Log\"", "open": "\"is open\"",
    "price": "\"preis €\"",
    "when": "\"when\"",
  ]

  static func document(_ dice: inout SplitMix) -> (text: String, items: [RandomItem]) {
    var texts: [String] = []
    var items: [RandomItem] = []
    for _ in 0..<Int.random(in: 0...6, using: &dice) {
      let (text, item) = item(&dice)
      texts.append(text)
      items.append(item)
    }
    return ("[\(texts.joined(separator: ", "))]", items)
  }

  private static func item(_ dice: inout SplitMix) -> (String, RandomItem) {
    let id = Int.random(in: 1...6, using: &dice)
    var members = ["\"itemID\": \(id)"]
    var values: [String: Said<String>] = [:]
    for name in attributes {
      let (text, said) = said(&dice) { value(name, &$0) }
      values[name] = said
      if let text { members.append("\(keys[name] ?? ""): \(text)") }
    }
    let (ownerText, owner) = said(&dice) { member("personID", "label", &$0) }
    let (tagsText, tags) = said(&dice) { list("tagID", &$0) }
    let (partsText, parts) = said(&dice) { list("partID", &$0) }
    if let ownerText { members.append("\"owner\": \(ownerText)") }
    if let tagsText { members.append("\"tags\": \(tagsText)") }
    if let partsText { members.append("\"parts\": \(partsText)") }
    members.shuffle(using: &dice)
    let text = "{\(members.joined(separator: ", "))}"
    return (text, RandomItem(id: id, values: values, owner: owner, tags: tags, parts: parts))
  }

  private static func said<Content>(
    _ dice: inout SplitMix, _ make: (inout SplitMix) -> (String, Content)
  ) -> (String?, Said<Content>) {
    switch Int.random(in: 0..<6, using: &dice) {
    case 0: return (nil, .absent)
    case 1: return ("null", .null)
    default:
      let (text, content) = make(&dice)
      return (text, .some(content))
    }
  }

  private static func list(_ id: String, _ dice: inout SplitMix) -> (String, [RandomMember]) {
    var texts: [String] = []
    var members: [RandomMember] = []
    for _ in 0..<Int.random(in: 0...4, using: &dice) {
      let (text, member) = member(id, "label", &dice)
      texts.append(text)
      members.append(member)
    }
    return ("[\(texts.joined(separator: ","))]", members)
  }

  private static func member(
    _ id: String, _ label: String, _ dice: inout SplitMix
  ) -> (String, RandomMember) {
    let number = Int.random(in: 1...5, using: &dice)
    let (text, said) = said(&dice) { Self.text(&$0) }
    return (
      "{\"\(id)\": \(number)\(text.map { ", \"\(label)\": \($0)" } ?? "")}",
      RandomMember(id: number, label: said)
    )
  }

  private static func text(_ dice: inout SplitMix) -> (String, String) {
    let texts = [
      ("\"a\"", "a"), ("\"é\\n\"", "é\n"), ("\"\\u0041\\u030a\"", "A\u{30A}"), ("\"\"", ""),
      ("\"😀\"", "😀"), ("\"7\"", "7"),
    ]
    return texts.randomElement(using: &dice) ?? texts[0]
  }

  /// Returns a value as JSON and as it appears in the state.
  private static func value(_ name: String, _ dice: inout SplitMix) -> (String, String) {
    switch name {
    case "name": return text(&dice)
    case "open":
      let flag = Bool.random(using: &dice)
      return ("\(flag)", "\(flag)")
    case "height":
      let whole = Int.random(in: -50...50, using: &dice)
      let forms = ["\(whole)", "\(whole).0", "\(whole * 10)e-1", "\(whole).5"]
      let form = forms.randomElement(using: &dice) ?? forms[0]
      return (form, "\(Double(form) ?? 0)")
    case "price":
      let cents = Int.random(in: 0...999_999_999, using: &dice)
      let whole = "\(cents / 100)"
      let text = "\(whole).\(cents % 100 < 10 ? "0" : "")\(cents % 100)"
      return (text, "\(Decimal(string: text) ?? 0)")
    default: return date(&dice)
    }
  }

  /// Returns a point in time in one of the ISO 8601 formats with a time zone, and its seconds since
  /// 1970.
  private static func date(_ dice: inout SplitMix) -> (String, String) {
    let year = Int.random(in: 1_600...2_400, using: &dice)
    let month = Int.random(in: 1...12, using: &dice)
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    let day = Int.random(in: 1...lengths[month - 1], using: &dice)
    let second = Int.random(in: 0..<86_400, using: &dice)
    // The days before the year, counted year by year from 1970.
    var days = 0
    let years = year >= 1970 ? Array(1970..<year) : Array(year..<1970)
    for year in years {
      let count = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 366 : 365
      days += count
    }
    if year < 1970 { days = -days }
    days += lengths.prefix(month - 1).reduce(0, +) + day - 1
    let offset = [0, 0, 120, -330, 840].randomElement(using: &dice) ?? 0
    let fraction = ["", "", ".5", ".125"].randomElement(using: &dice) ?? ""
    func padded(_ number: Int, _ width: Int = 2) -> String {
      String(repeating: "0", count: max(0, width - "\(number)".count)) + "\(number)"
    }
    let clock = [second / 3600, second / 60 % 60, second % 60].map { padded($0) }
    let minutes = abs(offset)
    let zone =
      offset == 0
      ? "Z" : "\(offset < 0 ? "-" : "+")\(padded(minutes / 60)):\(padded(minutes % 60))"
    let text =
      "\"\(padded(year, 4))-\(padded(month))-\(padded(day))T\(clock.joined(separator: ":"))"
      + "\(fraction)\(zone)\""
    let seconds = Double(days * 86_400 + second - offset * 60) + (Double("0" + fraction) ?? 0)
    return (text, "\(seconds)")
  }
}

// MARK: The library

enum ImportTrial {
  static func model() -> ManagedObjectModel {
    func attribute(
      _ name: String, _ type: AttributeType, _ key: String? = nil
    ) -> AttributeDescription {
      AttributeDescription(
        name: name, type: type, isOptional: true,
        userInfo: key.map { ["ImportName": $0] } ?? [:])
    }
    func member(_ name: String, _ relationship: RelationshipDescription) -> EntityDescription {
      EntityDescription(
        name: name,
        attributes: [
          attribute(name.lowercased() + "ID", .integer64), attribute("label", .string),
        ],
        relationships: [relationship])
    }
    return ManagedObjectModel(entities: [
      EntityDescription(
        name: "Item",
        attributes: [
          attribute("itemID", .integer64), attribute("name", .string, "API.Log"),
          attribute("height", .double, "Height, cm"), attribute("price", .decimal, "preis €"),
          attribute("open", .boolean, "is open"), attribute("when", .date),
        ],
        relationships: [
          RelationshipDescription(name: "owner", destination: "Person", inverse: "items"),
          RelationshipDescription(
            name: "tags", destination: "Tag", inverse: "items", isToMany: true),
          RelationshipDescription(
            name: "parts", destination: "Part", inverse: "item", isToMany: true),
        ]),
      member(
        "Person",
        RelationshipDescription(
          name: "items", destination: "Item", inverse: "owner", isToMany: true)),
      member(
        "Tag",
        RelationshipDescription(
          name: "items", destination: "Item", inverse: "tags", isToMany: true)),
      member("Part", RelationshipDescription(name: "item", destination: "Item", inverse: "parts")),
    ])
  }

  static func run(
    _ way: NaiveImporter.Way, _ data: Data, _ options: NaiveImporter.Options,
    in context: ManagedObjectContext
  ) throws {
    switch way {
    case .notes:
      var imports = ImportOptions()
      imports.defaultMergePolicy = options.policy
      try context.importObjects(from: .data(data), as: "Item", options: imports)
    case .sync: try context.sync(from: .data(data), using: ItemSerializer(options: options))
    case .valueModels:
      try context.upsert(ValueAdapter.decode([ItemModel].self, from: .data(data)))
    }
  }

  private struct ItemSerializer: SyncSerializer {
    typealias Object = ManagedObject
    let options: NaiveImporter.Options
    let entityName: String? = "Item"
    let identifiers = ["itemID"]
    let deleteMissing = false
    var absentKeys: SyncAbsentKeys { options.clearsAbsent ? .clear : .leave }
    var mapping: SyncMapping {
      let options = options
      return [
        "itemID": .int("itemID"), "name": .string("API.Log"), "height": .double("Height, cm"),
        "price": .number("preis €"), "open": .bool("is open"), "when": .isoDate("when"),
        "owner": .toOne("owner") { _, _ in MemberSerializer("Person", options) },
        "tags": .toMany("tags") { _, _ in MemberSerializer("Tag", options) },
        "parts": .toMany("parts") { _, _ in MemberSerializer("Part", options) },
      ]
    }
  }

  private struct MemberSerializer: SyncSerializer {
    typealias Object = ManagedObject
    let entityName: String?
    let options: NaiveImporter.Options
    var identifiers: [String] { [id] }
    var deleteMissing: Bool { options.deletesMissing && entityName == "Part" }
    var absentKeys: SyncAbsentKeys { options.clearsAbsent ? .clear : .leave }
    var mapping: SyncMapping {
      SyncMapping([id: .int(SyncPath(id)), "label": .string("label")])
    }
    private var id: String { (entityName ?? "").lowercased() + "ID" }

    init(_ entityName: String, _ options: NaiveImporter.Options) {
      self.entityName = entityName
      self.options = options
    }
  }

  private struct ItemModel: ValueModel {
    var itemID: Int
    var name: String?
    var height: Double?
    var price: Decimal?
    var open: Bool?
    var when: Date?
    var owner: PersonModel?
    var tags: [TagModel]?
    var parts: [PartModel]?
    static let entityName = "Item"
    static let uniquingKeys: Set<String> = ["itemID"]
    static let jsonKeyPaths: JSONKeyPaths = [
      "name": "API.Log", "height": "Height, cm", "price": "preis €", "open": "is open",
    ]
  }

  private struct PersonModel: ValueModel {
    var personID: Int
    var label: String?
    static let entityName = "Person"
    static let uniquingKeys: Set<String> = ["personID"]
  }

  private struct TagModel: ValueModel {
    var tagID: Int
    var label: String?
    static let entityName = "Tag"
    static let uniquingKeys: Set<String> = ["tagID"]
  }

  private struct PartModel: ValueModel {
    var partID: Int
    var label: String?
    static let entityName = "Part"
    static let uniquingKeys: Set<String> = ["partID"]
  }

  /// Returns the contents of a context, one line per object.
  static func state(of context: ManagedObjectContext) throws -> [String] {
    var lines: [String] = []
    func number(_ object: ManagedObject?, _ name: String) throws -> String {
      guard case .integer(let number)? = try object?.value(forKey: name) else { return "-" }
      return "\(number)"
    }
    for item in try context.fetch(FetchRequest<ManagedObject>(entity: "Item")) {
      let values = try RandomItems.attributes.map { name in
        switch try item.value(forKey: name) {
        case .null: "-"
        case .string(let text): text
        case .boolean(let flag): "\(flag)"
        case .double(let number): "\(number)"
        case .decimal(let number): "\(number)"
        case .date(let date): "\(date.timeIntervalSince1970)"
        case let other: "\(other)"
        }
      }
      let tags = try item.objects(forKey: "tags").fetch().map { try number($0, "tagID") }.sorted()
      let parts = try item.objects(forKey: "parts").fetch().map { try number($0, "partID") }
        .sorted()
      lines.append(
        "Item \(try number(item, "itemID")) \(values) "
          + "\(try number(item.object(forKey: "owner"), "personID")) \(tags) \(parts)")
    }
    for entity in ["Part", "Person", "Tag"] {
      for member in try context.fetch(FetchRequest<ManagedObject>(entity: entity)) {
        let label = member["label"] as String? ?? "-"
        lines.append("\(entity) \(try number(member, entity.lowercased() + "ID")) \(label)")
      }
    }
    return lines.sorted()
  }
}
