internal import ArborModel
internal import LMDB

/// The model that a store had before its last migration, kept until the migration is confirmed, so
/// that it can be reverted.
///
/// The databases of dropped parts are kept, too, except for those of indexes, as are the layouts of
/// removed entities and the large binaries of removed attributes.
struct FormerModel {
  /// The sequence of the commit that migrated the store.
  let sequence: UInt64
  /// The model's fingerprint in the header, which includes the versions of text folding and
  /// tokenization.
  let fingerprint: ModelFingerprint
  /// The model with the catalog that it had at that time.
  let schema: ModelSchema
}

extension FormerModel {
  // MARK: Bytes

  /// `sequence u64 · model fingerprint u128 · catalog · model · crc32c u32`. The catalog and
  /// the model are encoded like the `catalog` and `model` entries, each preceded by its length.
  func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(sequence)
    writer.append(fingerprint.bits)
    writer.appendRun(CatalogCodec.encode(schema.catalog))
    writer.appendRun(ModelCodec.encode(schema.model))
    writer.appendChecksum()
    return writer.bytes
  }

  /// - Throws: `corrupted` if the bytes are damaged.
  init(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    guard var reader = ByteReader(checked: bytes), let sequence: UInt64 = reader.read(),
      let fingerprint: UInt128 = reader.read(),
      let catalog = reader.readRun().flatMap({ CatalogCodec.decode($0) }),
      let model = reader.readRun(), reader.isAtEnd
    else { throw Self.damage }
    do throws(StoreError) {
      let schema = try StoreOpener.schema(ModelCodec.decode(model), catalog)
      self.init(
        sequence: sequence, fingerprint: ModelFingerprint(bits: fingerprint), schema: schema)
    } catch {
      throw Self.damage
    }
  }

  private static let damage = StoreError.corrupted(
    what: "The entry \"\(StoreFormat.formerKey)\" is damaged.")

  // MARK: In the store

  /// Reads the former model, or returns `nil` if the last migration is confirmed or there was none.
  static func read(
    _ reader: TransactionReader, _ arbor: Database
  ) throws(StoreError) -> FormerModel? {
    let bytes = try reader.entryIfPresent(StoreFormat.formerKey, in: arbor)
    return try bytes.map { (bytes) throws(StoreError) in try FormerModel(bytes) }
  }

  /// Removes the former model from a store with the present schema, together with all data kept for
  /// it.
  func forget(
    _ present: ModelSchema, _ arbor: Database, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    try Self.drop(
      StoreDatabases.list(schema).filter { !$0.name.hasPrefix(StoreFormat.indexDatabase("")) },
      notIn: present, transaction)
    let live = Dictionary(
      present.entities.map { ($0.number, $0) }, uniquingKeysWith: { one, _ in one })
    for entity in schema.entities {
      if let still = live[entity.number] {
        try removeBlobs(of: entity, still, present, transaction)
      } else if !entity.isAbstract {
        try Self.forget(entity, layouts: 1...entity.layout.number, arbor, transaction)
      }
    }
    let catalog = CatalogCodec.encode(present.catalog.withoutRetiredDatabases)
    try StoreCreation.put(StoreFormat.catalogKey, catalog, arbor, transaction)
    try StoreCreation.remove(StoreFormat.formerKey, arbor, transaction)
  }

  /// Deletes the databases of a list that a schema does not use.
  static func drop(
    _ list: [(name: String, flags: DatabaseFlags)], notIn schema: ModelSchema,
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    let kept = Set(StoreDatabases.list(schema).map(\.name))
    let dropped = list.filter { !kept.contains($0.name) }
    try storing { () throws(LMDBError) in
      for database in try transaction.createDatabases(dropped) {
        try transaction.deleteDatabase(database)
      }
    }
  }

  /// Removes the counter of an entity and a range of its layouts.
  static func forget(
    _ entity: EntitySchema, layouts: ClosedRange<UInt16>, _ arbor: Database,
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    for layout in layouts {
      let key = StoreFormat.layoutKey(entity: entity.number, layout: layout)
      try StoreCreation.remove(key, arbor, transaction)
    }
    let counter = StoreFormat.counterKey(StoreFormat.objectCounter(entity.number))
    try StoreCreation.remove(counter, arbor, transaction)
  }

  /// Removes the large binaries of attributes that an entity no longer has, if the entity still has
  /// attributes that store large binaries.
  private func removeBlobs(
    of former: EntitySchema, _ entity: EntitySchema, _ present: ModelSchema,
    _ transaction: borrowing WriteTransaction
  ) throws(StoreError) {
    let gone = Set(former.layout.externalFields.map(\.catalogNumber))
      .subtracting(entity.layout.fields.map(\.catalogNumber))
    guard !gone.isEmpty, entity.keepsBlobs else { return }
    try storing { () throws(LMDBError) in
      let name = StoreFormat.blobDatabase(present.storedName(of: entity))
      let opened = try transaction.createDatabases([(name: name, flags: StoreFormat.blobFlags)])
      var keys: [[UInt8]] = []
      let cursor = try transaction.reader.cursor(opened[0])
      while let found = try cursor.next() {
        if let key = BlobName.of(key: found.key), gone.contains(key.name.property) {
          keys.append(Array(found.key))
        }
      }
      for key in keys { try transaction.delete(opened[0], key: key) }
    }
  }
}

extension StoreEngine {
  /// Whether the store keeps the data that is needed to revert its last migration.
  package var keepsFormerModel: Bool {
    get throws(StoreError) {
      try read { (reader) throws(StoreError) in
        try FormerModel.read(reader, databases.arbor) != nil
      }
    }
  }

  /// Makes the last migration final and removes the data kept to revert it, in one transaction.
  /// Does nothing if no migration can be reverted. If the store has followers, this is a commit, so
  /// that they remove the data as well.
  ///
  /// - Complexity: Linear in the number of pages that were kept, and in the number of large
  ///   binary values of entities that lost an attribute with external storage.
  package func confirmMigration() throws(StoreError) {
    guard !hasEnded else { throw .closed }
    guard !isReadOnly else { throw .readOnly(path: path) }
    guard try keepsFormerModel else { return }
    if try isFollowed {
      var set = ChangeSet()
      set.confirmsMigration = true
      _ = try commit(set)
    } else {
      try runTransaction { (transaction, _) throws(StoreError) in try forgetFormerModel(transaction)
      }
    }
  }

  private var isFollowed: Bool {
    get throws(StoreError) {
      if sharedLog != nil { return true }
      return try logReaders().least != nil
    }
  }

  func forgetFormerModel(_ transaction: borrowing WriteTransaction) throws(StoreError) {
    let former = try FormerModel.read(transaction.reader, databases.arbor)
    try former?.forget(schema, databases.arbor, transaction)
  }
}
