internal import ArborModel

/// The objects of a query, grouped by their keys (hash grouping).
///
/// The values of keys are only made for objects that differ in the bytes from which all keys are
/// read: of 100 messages by one author, one reads the author's name.
struct GroupedRows: RowSink {
  struct Group {
    let keys: [PropertyValue]
    var figures: [GroupFigure]
  }

  private let keyReaders: RowReaders
  private let valueReaders: RowReaders
  private let aggregates: [RowPlan.GroupAggregate]
  /// The fields from which the keys are read, or `nil` if they are read in another way.
  private let fields: GroupFields?
  /// The numbers of the distinct contents of ``fields``.
  private var table = GroupKeyTable()
  /// The index of the group for each number in ``table``.
  private var indices: [Int] = []
  /// The index of the newest group, by the hash of its keys.
  private var newest: [Int: Int] = [:]
  /// For each group, the index of the previous group with the same hash, or -1.
  private var former: [Int] = []
  private(set) var groups: [Group] = []

  init(
    _ grouping: RowPlan.Grouping, _ environment: PredicateEnvironment,
    _ resolver: SnapshotResolver, _ family: [EntitySchema]
  ) {
    keyReaders = RowReaders(grouping.keys, environment, resolver)
    valueReaders = RowReaders(
      grouping.aggregates.compactMap(\.expression), environment, resolver)
    aggregates = grouping.aggregates
    fields = GroupFields(grouping.keys, of: family)
    // Without keys, all objects form one group, even if there are none.
    if grouping.keys.isEmpty {
      groups = [Group(keys: [], figures: aggregates.map(GroupFigure.init))]
    }
  }

  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) throws -> Bool {
    for index in rows.indices {
      let row = rows[index]
      let group = try group(of: row, entity)
      try add(row, of: entity, to: group)
    }
    return true
  }

  private mutating func add(
    _ row: FoundRow, of entity: EntitySchema, to group: Int
  ) throws(ArborError) {
    var values: ArraySlice<PropertyValue> = []
    if !valueReaders.isEmpty {
      values = try valueReaders.values(row.number, row.record, of: entity)[...]
    }
    for (index, aggregate) in aggregates.enumerated() {
      groups[group].figures[index].add(aggregate.expression == nil ? nil : values.removeFirst())
    }
  }

  /// Returns the index of a row's group, which may be new.
  private mutating func group(of row: FoundRow, _ entity: EntitySchema) throws(ArborError) -> Int {
    if keyReaders.isEmpty { return 0 }
    guard let fields else {
      return index(of: try keyReaders.values(row.number, row.record, of: entity))
    }
    let number = fields.withKey(of: row.record, entity) { table.index(of: $0) }
    if number == indices.count {
      indices.append(index(of: try keyReaders.values(row.number, row.record, of: entity)))
    }
    return indices[number]
  }

  private mutating func index(of keys: [PropertyValue]) -> Int {
    let hash = DistinctValue.hash(of: keys[...])
    let last = newest[hash] ?? -1
    var index = last
    while index >= 0 {
      let known = groups[index].keys
      if keys.indices.allSatisfy({ PropertyValue.compare(known[$0], keys[$0]) == .equal }) {
        return index
      }
      index = former[index]
    }
    newest[hash] = groups.count
    former.append(last)
    groups.append(Group(keys: keys, figures: aggregates.map(GroupFigure.init)))
    return groups.count - 1
  }
}

/// The fields of an object that determine the keys of its group, and a buffer for their contents:
/// attributes, and the first relationships of paths.
private final class GroupFields {
  private let sources: [IndexSchema.Column.Source]
  private var buffer = KeyBuffer(limit: .max)
  // Cached for the entity of the last row, because most queries have only one entity.
  private var last: (entity: EntitySchema, fields: [RecordField])?

  /// - Returns: `nil` if a key depends on anything else, or on values that no index can store.
  init?(_ keys: [BoundExpression], of family: [EntitySchema]) {
    var sources: [IndexSchema.Column.Source] = []
    for key in keys {
      if case .path(let path) = key, path.scope == 0, let first = path.hops.first {
        sources.append(.toOne(first.slot))
      } else if let source = key.columnSource {
        sources.append(source)
      } else {
        return nil
      }
    }
    self.sources = sources
    for entity in family where Self.fields(sources, of: entity) == nil { return nil }
  }

  func withKey<R>(
    of record: RecordView, _ entity: EntitySchema, _ body: (UnsafeRawBufferPointer) -> R
  ) -> R {
    buffer.removeAll()
    for field in fields(of: entity) { KeyEncoder.append(field, of: record, to: &buffer) }
    return body(buffer.bytes)
  }

  private func fields(of entity: EntitySchema) -> [RecordField] {
    if let last, last.entity === entity { return last.fields }
    guard let fields = Self.fields(sources, of: entity) else {
      stopProgram("A grouping key isn't a field of \(entity.name), which was checked before.")
    }
    last = (entity, fields)
    return fields
  }

  private static func fields(
    _ sources: [IndexSchema.Column.Source], of entity: EntitySchema
  ) -> [RecordField]? {
    var fields: [RecordField] = []
    for source in sources {
      switch source {
      case .attribute(let slot):
        let attribute = entity.attributes[slot]
        guard attribute.field.kind != .tagged, attribute.field.kind != .json,
          !attribute.field.isTransient, !attribute.field.isExternal
        else { return nil }
        fields.append(attribute.field)
      case .toOne(let slot):
        guard let field = entity.relationships[slot].field else { return nil }
        fields.append(field)
      case .part: return nil
      }
    }
    return fields
  }
}

/// Numbers distinct keys in the order of their first appearance, in a hash table with open
/// addressing over the bytes of all keys, so that no row needs memory of its own.
struct GroupKeyTable {
  private static let leastPlaces = 64

  /// The bytes of all keys, one after another.
  private var bytes: [UInt8] = []
  /// The position in ``bytes`` at which each key ends.
  private var ends: [Int] = []
  private var hashes: [Int] = []
  /// The numbers of the keys plus 1, or 0 for a free place. The count is a power of two.
  private var places = [UInt32](repeating: 0, count: Self.leastPlaces)

  /// Returns the number of a key, which is the count of earlier ones if it is new.
  mutating func index(of key: UnsafeRawBufferPointer) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: key)
    let hash = hasher.finalize()
    var place = hash & (places.count - 1)
    while places[place] != 0 {
      let index = Int(places[place]) - 1
      if hashes[index] == hash, isKey(key, at: index) { return index }
      place = (place + 1) & (places.count - 1)
    }
    ends.append(bytes.count + key.count)
    bytes.append(contentsOf: key)
    hashes.append(hash)
    places[place] = UInt32(ends.count)
    if ends.count * 2 > places.count { grow() }
    return ends.count - 1
  }

  private func isKey(_ key: UnsafeRawBufferPointer, at index: Int) -> Bool {
    let start = index == 0 ? 0 : ends[index - 1]
    return bytes.withUnsafeBytes {
      UnsafeRawBufferPointer(rebasing: $0[start..<ends[index]]).elementsEqual(key)
    }
  }

  private mutating func grow() {
    places = [UInt32](repeating: 0, count: places.count * 2)
    for (index, hash) in hashes.enumerated() {
      var place = hash & (places.count - 1)
      while places[place] != 0 { place = (place + 1) & (places.count - 1) }
      places[place] = UInt32(index + 1)
    }
  }
}
