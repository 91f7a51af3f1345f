import ArborData
import Foundation
import TestSupport

/// A random change of a model and the objects of the store that it migrates, with the obstacles that
/// a naive search of these objects finds.
struct ObstacleTrial {
  /// An object of `Base` or of its subentity `Special`.
  struct Row {
    var entity = "Base"
    var values: [String: PropertyValue] = [:]
    /// The position of its group.
    var owner: Int?
  }

  /// Unique values of the newer model.
  struct Unique: Hashable {
    var entity = "Base"
    var columns: [String]
    var isFolded = false
    var condition: Condition?
    /// Whether it is declared as an index and not as a constraint.
    var isIndex = false
    /// Whether the older model has the same constraint.
    var wasUnique = false
  }

  enum Condition: String, CaseIterable {
    case isFlagged = "flag == YES"
    case isCounted = "count > 2"
    case hasDay = "day != nil"

    func holds(_ values: [String: PropertyValue]) -> Bool {
      switch self {
      case .isFlagged: values["flag"] == .boolean(true)
      case .isCounted: (values["count"]?.int64 ?? 0) > 2
      case .hasDay: values["day"]?.isNull == false
      }
    }
  }

  static let types: KeyValuePairs<String, AttributeType> = [
    "text": .string, "other": .string, "data": .binary, "amount": .decimal, "day": .date,
    "count": .integer64, "ratio": .double, "serial": .uuid, "flag": .boolean,
  ]

  var rows: [Row] = []
  var groups = 3
  var uniques: [Unique] = []
  /// The attributes that become mandatory, with their defaults.
  var mandatory: [String: PropertyValue] = [:]
  /// Whether `count` becomes an `integer16`, which needs a pass.
  var isNarrowed = false
  /// Whether `text` is renamed to `label`.
  var isRenamed = false
  /// Whether the newer model adds an attribute with a default.
  var addsExtra = false
  var becomesAbstract = false
  var needsOwner = false
  var maximumItems = 0
  var isLightweight = false

  // MARK: Models

  var options: StoreOptions {
    StoreOptions(migration: isLightweight ? .lightweightOnly : .automatic, durability: .relaxed)
  }

  private func label(_ name: String) -> String { isRenamed && name == "text" ? "label" : name }

  func model(isNew: Bool) -> ManagedObjectModel {
    var base = EntityDescription(name: "Base", isAbstract: isNew && becomesAbstract)
    for (name, type) in Self.types {
      var attribute = AttributeDescription(name: name, type: type, isOptional: true)
      if isNew {
        if name == "count", isNarrowed { attribute.type = .integer16 }
        if let value = mandatory[name] {
          attribute.isOptional = false
          attribute.defaultValue = value
        }
        if label(name) != name {
          attribute.name = label(name)
          attribute.renamingIdentifier = name
        }
      }
      base.attributes.append(attribute)
    }
    if isNew, addsExtra {
      base.attributes.append(
        AttributeDescription(name: "extra", type: .string, defaultValue: "x"))
    }
    base.relationships = [
      RelationshipDescription(
        name: "owner", destination: "Group", inverse: "items", isOptional: !(isNew && needsOwner))
    ]
    var special = EntityDescription(name: "Special", parent: "Base")
    for (position, unique) in uniques.enumerated() where isNew || unique.wasUnique {
      let columns = unique.columns.map { isNew ? label($0) : $0 }
      if unique.entity == "Base" {
        add(unique, columns, position, to: &base)
      } else {
        add(unique, columns, position, to: &special)
      }
    }
    var items = RelationshipDescription(
      name: "items", destination: "Base", inverse: "owner", isToMany: true)
    if isNew { items.maximumCount = maximumItems }
    let group = EntityDescription(name: "Group", relationships: [items])
    return ManagedObjectModel(entities: [base, group, special])
  }

  private func add(
    _ unique: Unique, _ columns: [String], _ position: Int, to entity: inout EntityDescription
  ) {
    guard unique.isIndex || unique.isFolded || unique.condition != nil else {
      entity.uniquenessConstraints.append(columns)
      return
    }
    entity.fetchIndexes.append(
      FetchIndexDescription(
        name: "unique\(position)",
        elements: columns.map { name -> FetchIndexDescription.Element in
          let isText = ["text", "label", "other", "extra"].contains(name)
          return .init(name, kind: unique.isFolded && isText ? .folded : .binary)
        }, partialIndexPredicate: unique.condition?.rawValue, isUnique: true))
  }

  // MARK: The naive search

  /// The values of an object in the newer model.
  private func migrated(_ row: Row) -> [String: PropertyValue] {
    var values = row.values
    for (name, filling) in mandatory where values[name, default: .null].isNull {
      values[name] = filling
    }
    if addsExtra { values["extra"] = "x" }
    // A count that doesn't fit is an obstacle of its own.
    if isNarrowed, values["count"]?.int64 ?? 0 > Int16.max { values["count"] = .null }
    return values
  }

  /// Whether objects are migrated by a pass, which restores the counts.
  private var isPassed: Bool { isNarrowed && !isLightweight }

  /// Whether opening finds the objects that share the values only in the copy.
  private func isHidden(_ unique: Unique) -> Bool {
    guard isPassed else { return false }
    return unique.condition == .isCounted
      || (unique.columns.contains("count") && (unique.isFolded || unique.condition != nil))
  }

  /// The duplicates that the plan lists, and those that opening finds only in the copy.
  func duplicates(_ numbers: [ObjectID]) -> (listed: [String], hidden: [String]) {
    var (listed, hidden): ([String], [String]) = ([], [])
    for unique in uniques {
      // Counts that cannot be restored are not compared.
      if isNarrowed, isLightweight,
        unique.columns.contains("count") || unique.condition == .isCounted
      {
        continue
      }
      let isHidden = isHidden(unique)
      guard let message = message(unique, numbers, isHidden) else { continue }
      if isHidden { hidden.append(message) } else { listed.append(message) }
    }
    return (listed.sorted(), hidden.sorted())
  }

  private func message(_ unique: Unique, _ numbers: [ObjectID], _ isHidden: Bool) -> String? {
    var members: [[String]: [Int]] = [:]
    for (position, row) in rows.enumerated() {
      if unique.entity == "Special" || becomesAbstract, row.entity == "Base" { continue }
      let values = migrated(row)
      guard unique.condition?.holds(values) ?? true else { continue }
      let key = unique.columns.compactMap { Self.key(values[$0] ?? .null, unique.isFolded) }
      guard key.count == unique.columns.count else { continue }
      members[key, default: []].append(position)
    }
    let shared = members.values.filter { $0.count > 1 }.joined().sorted {
      (rows[$0].entity, numbers[$0].number) < (rows[$1].entity, numbers[$1].number)
    }
    guard !shared.isEmpty else { return nil }
    let isFilled = shared.contains { position in
      unique.columns.contains { rows[position].values[$0, default: .null].isNull }
    }
    let names = shared.prefix(3).map { "\(numbers[$0].entityName) \(numbers[$0].number)" }
    return "\(unique.entity).\(unique.columns.map(label).joined(separator: ", ")) "
      + "\(unique.wasUnique || isHidden ? "is" : "becomes") unique, but there are \(shared.count) "
      + "objects (\(names.joined(separator: ", "))\(shared.count > 3 ? " and more" : "")) with "
      + "equal values\(isFilled && !isHidden ? ", because nil becomes the default" : ""). Change "
      + "the values with the former model, or use a MigrationStep to change them"
      + (isLightweight ? " with options.migration = .automatic." : ".")
  }

  /// Returns a value in a form that is equal exactly for equal values, or `nil` for no value.
  private static func key(_ value: PropertyValue, _ isFolded: Bool) -> String? {
    switch value {
    case .null: return nil
    case .string(let text):
      guard isFolded else {
        return text.unicodeScalars.map { "\($0.value)" }.joined(separator: " ")
      }
      let marks = text.decomposedStringWithCanonicalMapping.unicodeScalars.filter {
        $0.properties.generalCategory != .nonspacingMark
      }
      return marks.map { $0.properties.lowercaseMapping }.joined()
    case .binary(let data): return data.map { "\($0)" }.joined(separator: " ")
    case .double(let number): return "\(number == 0 ? 0 : number)"
    case .date(let date): return "\(date.timeIntervalSinceReferenceDate)"
    default: return "\(value)"
    }
  }

  /// Whether the newer model stores anything differently.
  var changesFile: Bool {
    isNarrowed || isRenamed || addsExtra || becomesAbstract || !mandatory.isEmpty
      || uniques.contains { !$0.wasUnique }
  }

  /// Whether anything other than shared values prevents the migration.
  var isObstructed: Bool {
    let bases = rows.filter { $0.entity == "Base" }
    if becomesAbstract, !bases.isEmpty { return true }
    // Without objects, an entity that stays concrete is laid out anew in place.
    if isNarrowed, isLightweight, becomesAbstract || !rows.isEmpty { return true }
    if isNarrowed, rows.contains(where: { $0.values["count"]?.int64 ?? 0 > 40_000 }) { return true }
    for (name, filling) in mandatory where filling.isNull {
      if rows.contains(where: { $0.values[name, default: .null].isNull }) { return true }
    }
    // Rules alone don't change the file. Only later commits check them.
    guard changesFile else { return false }
    if needsOwner, rows.contains(where: { $0.owner == nil }) { return true }
    guard maximumItems > 0 else { return false }
    return (0..<groups).contains { group in
      rows.count { $0.owner == group } > maximumItems
    }
  }
}

// MARK: Random trials

extension ObstacleTrial {
  init(random: inout SeededRandom) {
    func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
    isRenamed = chance(3)
    addsExtra = chance(4)
    isNarrowed = chance(3)
    becomesAbstract = chance(8)
    needsOwner = chance(8)
    isLightweight = chance(4)
    if chance(8) { maximumItems = 3 }
    for (name, type) in Self.types where chance(7) {
      mandatory[name] = chance(4) ? .null : Self.value(type, &random)
    }
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let unique = Unique(addsExtra, &random)
      if !uniques.contains(where: { Set($0.columns) == Set(unique.columns) }) {
        uniques.append(unique)
      }
    }
    var taken: [Unique: Set<[String]>] = [:]
    for _ in 0..<Int.random(in: 0...12, using: &random) {
      var row = Row()
      row.entity = chance(becomesAbstract ? 12 : 2) ? "Base" : "Special"
      for (name, type) in Self.types where !chance(4) {
        row.values[name] = Self.value(type, &random)
      }
      if isNarrowed, chance(40) { row.values["count"] = 100_000 }
      if !chance(needsOwner ? 40 : 3) { row.owner = Int.random(in: 0..<groups, using: &random) }
      // The older model permits no duplicates of these.
      for unique in uniques where unique.wasUnique {
        let key = unique.columns.compactMap { Self.key(row.values[$0] ?? .null, false) }
        guard key.count == unique.columns.count else { continue }
        if !taken[unique, default: []].insert(key).inserted {
          row.values[unique.columns[0]] = PropertyValue.null
        }
      }
      rows.append(row)
    }
  }

  /// Returns one of few values, some of which differ only in form or far behind their start.
  private static func value(
    _ type: AttributeType, _ random: inout SeededRandom
  ) -> PropertyValue {
    let long = String(repeating: "é", count: 600)
    let number = Int.random(in: 0..<16, using: &random)
    return switch type {
    case .string:
      .string(
        [
          "a", "A", "b", "é", "e\u{301}", "É", "E", "", long + "1", long + "2",
          long.uppercased() + "1", "c", "d", "f", "g", "h",
        ][number])
    case .binary:
      .binary(
        number < 4
          ? Data(repeating: 7, count: 700) + [UInt8(number % 3)]
          : Data([UInt8](repeating: 0, count: number % 3) + [UInt8(number)]))
    case .decimal: .decimal(Decimal(number) / [1, 2, 4][number % 3])
    case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number) / 2))
    case .double: .double(number == 0 ? -0.0 : Double(number / 2))
    case .uuid: .uuid(Library.uuid(number))
    case .boolean: .boolean(number % 2 == 0)
    default: .integer(Int64(number))
    }
  }
}

extension ObstacleTrial.Unique {
  fileprivate init(_ hasExtra: Bool, _ random: inout SeededRandom) {
    func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
    let names = ObstacleTrial.types.map(\.key) + (hasExtra ? ["extra"] : [])
    columns = Array(names.shuffled(using: &random).prefix(chance(2) ? 1 : chance(2) ? 2 : 3))
    entity = chance(3) ? "Special" : "Base"
    let hasText = columns.contains { ["text", "other", "extra"].contains($0) }
    isFolded = hasText && chance(2)
    condition = chance(3) ? ObstacleTrial.Condition.allCases.randomElement(using: &random) : nil
    isIndex = chance(3)
    wasUnique =
      !isFolded && condition == nil && !isIndex && !columns.contains("extra") && chance(3)
  }
}
