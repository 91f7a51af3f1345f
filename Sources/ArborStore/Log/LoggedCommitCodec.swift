package import ArborFoundation
package import ArborModel

/// Encodes one commit for the `log` database and for logs outside the store.
///
/// ```
/// format u8 = 2 · kind u8 · generation u32 · history entry
/// · records · for each, by object number:
///     distance from the last number · kind u8 · base version · [record as it is stored]
/// · links · for each: owner u64 · relationship · kind u8 · [members · for each: number u64]
/// · binary values · for each: object number u64 · property · version · bytes
/// · metadata · for each: key · is set u8 · [value]
/// · crc32c u32
/// ```
///
/// The kind is 0 for changes, 1 for a purge, and 2 for the confirmation of the last migration. Kind
/// 3 is a change of the model, which continues differently: see ``LoggedModelChange``.
/// Counts, distances, property and relationship numbers and versions are variable-length numbers;
/// entries, records, keys and bytes are preceded by their length. Derived fields of records are null,
/// because every copy computes them itself. The checksum is seeded with the
/// sequence number. Properties and relationships are identified by catalog numbers, relationships
/// by that in the declaring entity, which are the same in all copies of a store.
package enum LoggedCommitCodec {
  private static let format: UInt8 = 2

  private enum Kind: UInt8 {
    case changes = 0
    case purge = 1
    case confirmation = 2
    case modelChange = 3

    init(_ set: ChangeSet) {
      self = set.purges ? .purge : set.confirmsMigration ? .confirmation : .changes
    }
  }

  private enum EditKind: UInt8 {
    case add = 0
    case remove = 1
    case reorder = 2
  }

  /// The data of a commit that can be decoded without its model.
  package struct Summary: Sendable, Hashable {
    /// The model generation after the commit.
    package let generation: UInt32
    package let date: Date
    /// Whether the commit changes the model.
    package let changesModel: Bool
  }

  // MARK: Writing

  /// - Parameters:
  ///   - changes: The change set's records in the order of their numbers.
  ///   - history: The history entry of the commit.
  static func encode(
    _ set: ChangeSet, changes: [ChangeSet.RecordChange], history: [UInt8], sequence: UInt64,
    generation: UInt32, _ schema: ModelSchema
  ) -> [UInt8] {
    var writer = ByteWriter(reserving: 64 + history.count + 96 * changes.count)
    writer.append(format)
    writer.append(Kind(set).rawValue)
    writer.append(generation)
    writer.appendRun(history)
    append(changes, in: sequence, schema, to: &writer)
    append(set.links, schema, to: &writer)
    writer.appendVariable(UInt64(set.blobs.count))
    for blob in set.blobs {
      writer.append(blob.name.number.rawValue)
      writer.appendVariable(UInt64(blob.name.property))
      writer.appendVariable(UInt64(blob.name.version))
      writer.appendRun(blob.data)
    }
    writer.appendVariable(UInt64(set.metadata.count))
    for (key, value) in set.metadata {
      writer.appendRun(key.utf8)
      writer.append(UInt8(value == nil ? 0 : 1))
      if let value { writer.appendRun(value) }
    }
    writer.appendChecksum(seed: Checksum.seed(key: sequence))
    return writer.bytes
  }

  private static func append(
    _ changes: [ChangeSet.RecordChange], in sequence: UInt64, _ schema: ModelSchema,
    to writer: inout ByteWriter
  ) {
    writer.appendVariable(UInt64(changes.count))
    let memory = SlabAllocator()
    var last: UInt64 = 0
    for change in changes {
      writer.appendVariable(change.number.rawValue - last)
      last = change.number.rawValue
      writer.append(change.kind.rawValue)
      writer.appendVariable(UInt64(change.baseVersion))
      guard var record = change.record, let layout = schema.entity(of: change.number)?.layout
      else { continue }
      if !layout.derivedFields.isEmpty {
        var copy = RecordBuffer(copying: record.bytes, into: memory)
        for field in layout.derivedFields { copy.setNull(field) }
        record = copy.view
      }
      writer.appendRun(of: record.sealedSize(layout)) { target in
        record.seal(
          into: target, layout: layout, key: change.number, version: change.version(in: sequence),
          commit: sequence)
      }
    }
  }

  private static func append(
    _ links: [ChangeSet.LinkEdit], _ schema: ModelSchema, to writer: inout ByteWriter
  ) {
    writer.appendVariable(UInt64(links.count))
    var numbers = RelationshipNumbers(schema)
    for link in links {
      writer.append(link.owner.rawValue)
      writer.appendVariable(UInt64(numbers.number(ofSlot: link.slot, of: link.owner)))
      switch link.edit {
      case .add(let member):
        writer.append(EditKind.add.rawValue)
        writer.append(member.rawValue)
      case .remove(let member):
        writer.append(EditKind.remove.rawValue)
        writer.append(member.rawValue)
      case .reorder(let members):
        writer.append(EditKind.reorder.rawValue)
        writer.appendVariable(UInt64(members.count))
        for member in members { writer.append(member.rawValue) }
      }
    }
  }

  /// Returns a writer with the beginning of a change of the model.
  static func beginModelChange(_ generation: UInt32, _ history: [UInt8]) -> ByteWriter {
    var writer = ByteWriter()
    writer.append(format)
    writer.append(Kind.modelChange.rawValue)
    writer.append(generation)
    writer.appendRun(history)
    return writer
  }

  // MARK: Reading

  /// Reads the beginning of a change of the model. Returns `nil` for other commits.
  static func readModelChange(
    _ reader: inout ByteReader
  ) -> (generation: UInt32, history: [UInt8])? {
    guard reader.read(UInt8.self) == format, reader.read() == Kind.modelChange.rawValue,
      let generation: UInt32 = reader.read(), let history = reader.readRun(),
      HistoryCodec.date(of: history) != nil
    else { return nil }
    return (generation, Array(history))
  }

  /// Whether a commit is a change of the model, according to bytes that are not verified.
  package static func isModelChange(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.count > 1 && bytes[1] == Kind.modelChange.rawValue
  }

  /// Returns the model generation and date of a commit. Returns `nil` for bytes that ``encode`` did
  /// not create for the sequence number.
  package static func summary(_ bytes: UnsafeRawBufferPointer, sequence: UInt64) -> Summary? {
    guard var reader = ByteReader(checked: bytes, seed: Checksum.seed(key: sequence)),
      reader.read(UInt8.self) == format, let kind: UInt8 = reader.read(),
      let generation: UInt32 = reader.read(), let history = reader.readRun(),
      let date = HistoryCodec.date(of: history)
    else { return nil }
    return Summary(
      generation: generation, date: date, changesModel: kind == Kind.modelChange.rawValue)
  }

  /// Returns the history entry of a commit, as stored. Returns `nil` for bytes that ``encode`` did
  /// not create for the sequence number.
  package static func historyRecord(_ bytes: [UInt8], sequence: UInt64) -> [UInt8]? {
    bytes.withUnsafeBytes { bytes -> [UInt8]? in
      guard var reader = ByteReader(checked: bytes, seed: Checksum.seed(key: sequence)),
        reader.read(UInt8.self) == format, reader.read(UInt8.self) != nil,
        reader.read(UInt32.self) != nil
      else { return nil }
      return reader.readRun().map(Array.init)
    }
  }

  /// Decodes the output of ``encode`` for `sequence`. Returns `nil` for other bytes, including
  /// commits of a model other than the schema's.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer, sequence: UInt64, _ schema: ModelSchema
  ) -> LoggedCommit? {
    guard var reader = ByteReader(checked: bytes, seed: Checksum.seed(key: sequence)),
      reader.read(UInt8.self) == format, let kind = reader.read(UInt8.self).flatMap(Kind.init),
      kind != .modelChange, let generation: UInt32 = reader.read(),
      let history = reader.readRun(),
      HistoryCodec.decode(history, sequence: sequence, schema) != nil
    else { return nil }
    let memory = SlabAllocator(keepsSlabs: true)
    var set = ChangeSet()
    guard let records = readRecords(&reader, schema, memory),
      let links = readLinks(&reader, schema), let blobs = readBlobs(&reader),
      let metadata = readMetadata(&reader), reader.isAtEnd
    else { return nil }
    (set.records, set.links, set.blobs, set.metadata) = (records, links, blobs, metadata)
    set.purges = kind == .purge
    set.confirmsMigration = kind == .confirmation
    return LoggedCommit(
      sequence: sequence, generation: generation, history: Array(history), set: set, memory: memory)
  }

  private static func readRecords(
    _ reader: inout ByteReader, _ schema: ModelSchema, _ memory: SlabAllocator
  ) -> [ChangeSet.RecordChange]? {
    guard let count = reader.readCount() else { return nil }
    var changes: [ChangeSet.RecordChange] = []
    changes.reserveCapacity(count)
    var number = ObjectNumber(rawValue: 0)
    for _ in 0..<count {
      guard let distance = reader.readVariable(),
        let kind = reader.read(UInt8.self).flatMap(ChangeSet.RecordChange.Kind.init),
        let base = reader.readVariable().flatMap(UInt32.init(exactly:))
      else { return nil }
      number = ObjectNumber(rawValue: number.rawValue &+ distance)
      if kind == .delete {
        changes.append(.delete(number, from: base))
        continue
      }
      guard let run = reader.readRun(), let entity = schema.entity(of: number), !entity.isAbstract,
        number.sequence <= ObjectNumber.maximumSequence
      else { return nil }
      let copy = UnsafeMutableRawBufferPointer(start: memory.allocate(run.count), count: run.count)
      copy.copyMemory(from: run)
      let record = RecordView(base: copy.baseAddress ?? memory.allocate(0), count: run.count)
      guard record.verify(entity.layout, key: number) == nil else { return nil }
      changes.append(
        kind == .insert
          ? .insert(number, record, after: base)
          : .update(number, from: base, record, changedProperties: .max))
    }
    return changes
  }

  private static func readLinks(
    _ reader: inout ByteReader, _ schema: ModelSchema
  ) -> [ChangeSet.LinkEdit]? {
    guard let count = reader.readCount() else { return nil }
    var links: [ChangeSet.LinkEdit] = []
    links.reserveCapacity(count)
    var numbers = RelationshipNumbers(schema)
    for _ in 0..<count {
      guard let owner: UInt64 = reader.read(), let number = reader.readNumber(),
        let slot = numbers.slot(ofNumber: number, of: ObjectNumber(rawValue: owner)),
        let kind = reader.read(UInt8.self).flatMap(EditKind.init),
        let edit = readEdit(kind, &reader)
      else { return nil }
      links.append(.init(owner: ObjectNumber(rawValue: owner), slot: slot, edit))
    }
    return links
  }

  private static func readEdit(
    _ kind: EditKind, _ reader: inout ByteReader
  ) -> ChangeSet.LinkEdit.Edit? {
    guard kind == .reorder else {
      guard let member: UInt64 = reader.read() else { return nil }
      let number = ObjectNumber(rawValue: member)
      return kind == .add ? .add(number) : .remove(number)
    }
    guard let count = reader.readCount() else { return nil }
    var members: [ObjectNumber] = []
    members.reserveCapacity(count)
    for _ in 0..<count {
      guard let member: UInt64 = reader.read() else { return nil }
      members.append(ObjectNumber(rawValue: member))
    }
    return .reorder(members)
  }

  private static func readBlobs(_ reader: inout ByteReader) -> [ChangeSet.Blob]? {
    guard let count = reader.readCount() else { return nil }
    var blobs: [ChangeSet.Blob] = []
    for _ in 0..<count {
      guard let number: UInt64 = reader.read(), let property = reader.readNumber(),
        let version = reader.readVariable().flatMap(UInt32.init(exactly:)),
        let data = reader.readRun()
      else { return nil }
      let name = BlobName(
        number: ObjectNumber(rawValue: number), property: property, version: version)
      blobs.append(.init(name, Data(data)))
    }
    return blobs
  }

  private static func readMetadata(
    _ reader: inout ByteReader
  ) -> [(key: String, value: [UInt8]?)]? {
    guard let count = reader.readCount() else { return nil }
    var metadata: [(key: String, value: [UInt8]?)] = []
    for _ in 0..<count {
      guard let key = reader.readText(), let isSet: UInt8 = reader.read() else { return nil }
      guard isSet == 1 else {
        metadata.append((key, nil))
        continue
      }
      guard let value = reader.readRun() else { return nil }
      metadata.append((key, Array(value)))
    }
    return metadata
  }
}

extension ByteReader {
  /// Reads a count of items that take at least one byte each. Returns `nil` if the count exceeds
  /// the number of remaining bytes, which indicates damage.
  fileprivate mutating func readCount() -> Int? {
    readVariable().flatMap { $0 <= UInt64(bytesLeft) ? Int($0) : nil }
  }

  /// Reads a catalog number.
  fileprivate mutating func readNumber() -> UInt16? {
    readVariable().flatMap(UInt16.init(exactly:))
  }
}

/// A complete commit, which can be replayed in another copy of the store.
///
/// Its records are the stored ones, with their checksums. Indexes and the databases of derived
/// relationships are not included, because they follow from the records.
package struct LoggedCommit {
  package let sequence: UInt64
  /// The model generation of the records.
  package let generation: UInt32
  /// The history entry as stored.
  let history: [UInt8]
  let set: ChangeSet
  /// The allocator that owns the memory of the records.
  let memory: SlabAllocator
}

/// The catalog numbers of relationships that are stored as links. The last result is cached,
/// because edits of one relationship are usually consecutive.
struct RelationshipNumbers {
  private let schema: ModelSchema
  private var last: (entity: UInt16, slot: Int, number: UInt16)?

  init(_ schema: ModelSchema) { self.schema = schema }

  /// Returns the catalog number of an owner's relationship, or 0 if the owner has no relationship
  /// at the slot.
  mutating func number(ofSlot slot: Int, of owner: ObjectNumber) -> UInt16 {
    if let last, last.entity == owner.entity, last.slot == slot { return last.number }
    guard let entity = schema.entity(of: owner), entity.relationships.indices.contains(slot) else {
      return 0
    }
    let number = number(of: entity.relationships[slot])
    last = (owner.entity, slot, number)
    return number
  }

  /// Returns the slot of an owner's relationship, or `nil` if no relationship stored as links has
  /// the catalog number.
  mutating func slot(ofNumber number: UInt16, of owner: ObjectNumber) -> Int? {
    if let last, last.entity == owner.entity, last.number == number { return last.slot }
    guard number > 0, let entity = schema.entity(of: owner),
      let found = entity.relationships.first(where: {
        $0.storage == .links && self.number(of: $0) == number
      })
    else { return nil }
    last = (owner.entity, found.slot, number)
    return found.slot
  }

  private func number(of relationship: RelationshipSchema) -> UInt16 {
    let owner = schema.entities[relationship.declaringEntity].name
    return schema.catalog.entries[owner]?.relationships[relationship.name]?.number ?? 0
  }
}
