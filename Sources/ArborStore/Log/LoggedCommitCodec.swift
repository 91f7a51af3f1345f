package import ArborModel
package import Foundation

/// One commit as the bytes that the `log` database and the logs beyond the store keep.
///
/// ```
/// format u8 = 1 · kind u8 · generation u32 · history entry
/// · records · for each, by object number:
///     distance from the last number · kind u8 · base version · [record as it is stored]
/// · links · for each: owner u64 · relationship · kind u8 · [members · for each: number u64]
/// · binaries · for each: object number u64 · property · version · bytes
/// · metadata · for each: key · is set u8 · [value]
/// · crc32c u32
/// ```
///
/// The kind is 0 for changes, 1 where everything goes, and 2 where the last migration is confirmed.
/// Counts, distances, numbers of properties and relationships and versions are variable numbers;
/// entries, records, keys and bytes are runs behind their length. The checksum begins with the
/// sequence. Properties and relationships are named by their catalogue numbers, relationships with
/// the one of the entity that declares them: copies of one store agree on both.
package enum LoggedCommitCodec {
  private static let format: UInt8 = 1

  private enum Kind: UInt8 {
    case changes = 0
    case purge = 1
    case confirmation = 2

    init(_ set: ChangeSet) {
      self = set.purges ? .purge : set.confirmsMigration ? .confirmation : .changes
    }
  }

  private enum EditKind: UInt8 {
    case add = 0
    case remove = 1
    case reorder = 2
  }

  /// What can be told of a commit without its model.
  package struct Summary: Sendable, Hashable {
    package let generation: UInt32
    package let date: Date
  }

  // MARK: Writing

  /// - Parameters:
  ///   - changes: The set's records in the order of their numbers.
  ///   - history: What the history keeps of the commit.
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
    var last: UInt64 = 0
    for change in changes {
      writer.appendVariable(change.number.rawValue - last)
      last = change.number.rawValue
      writer.append(change.kind.rawValue)
      writer.appendVariable(UInt64(change.baseVersion))
      guard let record = change.record, let layout = schema.entity(of: change.number)?.layout
      else { continue }
      writer.appendRun(of: record.sealedSize(layout)) { target in
        record.seal(
          into: target, layout: layout, key: change.number, version: change.version(in: sequence))
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

  // MARK: Reading

  /// Which model bytes are of and when they were committed; nil for bytes that ``encode`` did not
  /// make for the sequence.
  package static func summary(_ bytes: UnsafeRawBufferPointer, sequence: UInt64) -> Summary? {
    guard var reader = ByteReader(checked: bytes, seed: Checksum.seed(key: sequence)),
      reader.read(UInt8.self) == format, reader.read(UInt8.self) != nil,
      let generation: UInt32 = reader.read(), let history = reader.readRun(),
      let date = HistoryCodec.date(of: history)
    else { return nil }
    return Summary(generation: generation, date: date)
  }

  /// The commit of bytes that ``encode`` made for `sequence`, or nil for others: among them bytes
  /// of another model than the schema's.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer, sequence: UInt64, _ schema: ModelSchema
  ) -> LoggedCommit? {
    guard var reader = ByteReader(checked: bytes, seed: Checksum.seed(key: sequence)),
      reader.read(UInt8.self) == format, let kind = reader.read(UInt8.self).flatMap(Kind.init),
      let generation: UInt32 = reader.read(), let history = reader.readRun(),
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
      guard let run = reader.readRun(), let entity = schema.entity(of: number), !entity.isAbstract
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
  /// A count of things of one byte at least: what promises more than there are bytes is damage.
  fileprivate mutating func readCount() -> Int? {
    readVariable().flatMap { $0 <= UInt64(bytesLeft) ? Int($0) : nil }
  }

  /// A catalogue number.
  fileprivate mutating func readNumber() -> UInt16? {
    readVariable().flatMap(UInt16.init(exactly:))
  }
}

/// What one commit was, whole: enough to make it again in another copy of the store.
///
/// The records are the ones that were stored, with their checksums; indexes and the databases of
/// derived relationships follow from them and are not in it.
package struct LoggedCommit {
  package let sequence: UInt64
  /// The generation of the model that the records are of.
  package let generation: UInt32
  /// What the history keeps of it, as it lies there.
  let history: [UInt8]
  let set: ChangeSet
  /// Keeps the memory of the records.
  let memory: SlabAllocator
}

/// The catalogue numbers of relationships that are stored as links. The most recent one is cached,
/// because edits of the same relationship are usually consecutive.
struct RelationshipNumbers {
  private let schema: ModelSchema
  private var last: (entity: UInt16, slot: Int, number: UInt16)?

  init(_ schema: ModelSchema) { self.schema = schema }

  /// The number of an owner's relationship; 0 where it has none there.
  mutating func number(ofSlot slot: Int, of owner: ObjectNumber) -> UInt16 {
    if let last, last.entity == owner.entity, last.slot == slot { return last.number }
    guard let entity = schema.entity(of: owner), entity.relationships.indices.contains(slot) else {
      return 0
    }
    let number = number(of: entity.relationships[slot])
    last = (owner.entity, slot, number)
    return number
  }

  /// The slot of an owner's relationship; nil for a number that none of them has.
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
