internal import ArborModel

/// The recovered model, catalog and layouts of a damaged store.
struct SalvagedModel {
  let schema: ModelSchema
  /// All layouts of all concrete entities.
  let layouts: [StoredLayout]
  /// The numbers of older layouts that are lost, by entity number. Records in these layouts cannot
  /// be read.
  let lostLayouts: [UInt16: Set<UInt16>]
  let origin: SalvageOutcome.Origin
  let isCatalogMade: Bool

  /// Finds a model and a catalog that match each other and the layouts.
  ///
  /// - Parameter given: The model to use if the file contains no matching one.
  /// - Throws: `corrupted` if there is no matching model.
  init(_ source: SalvageSource, given: ManagedObjectModel?) throws(StoreError) {
    let models = Self.models(source)
    var choices = models.map { ($0, SalvageOutcome.Origin.file) }
    if let given { choices.append((given, .given)) }
    let found = source.entries.catalogs.compactMap { found in
      found.bytes.withUnsafeBytes { CatalogCodec.decode($0)?.withoutRetiredDatabases }
    }
    let seeds = try RecordSeeds(source, likely: found.map(\.seed))
    let catalogs = found.map { found in
      var catalog = found
      catalog.seed = seeds.seed(insteadOf: found.seed)
      return catalog
    }
    for (model, origin) in choices {
      for catalog in catalogs {
        if let fit = Self.fit(model, catalog, source) {
          self.init(fit, source, origin, isCatalogMade: false)
          return
        }
      }
      guard catalogs.isEmpty else { continue }
      let seed = seeds.seed(insteadOf: .random(in: 1 ... .max))
      if let fit = Self.fit(model, SchemaCatalog(numbering: model, seed: seed), source) {
        self.init(fit, source, origin, isCatalogMade: true)
        return
      }
    }
    throw .corrupted(
      what: given == nil && models.isEmpty
        ? "no page of the file contains its model. Pass the model that the file was written with."
        : "no page of the file contains a catalog that fits the model.")
  }

  private init(
    _ schema: ModelSchema, _ source: SalvageSource, _ origin: SalvageOutcome.Origin,
    isCatalogMade: Bool
  ) {
    var layouts: [StoredLayout] = []
    var lost: [UInt16: Set<UInt16>] = [:]
    for entity in schema.concreteEntities {
      for number in 1...entity.layout.number {
        if let found = Self.layout(number, of: entity, source) {
          layouts.append(found)
        } else if number == entity.layout.number {
          layouts.append(StoredLayout(entity))
        } else {
          // A placeholder. It is not used to read records.
          lost[entity.number, default: []].insert(number)
          layouts.append(
            StoredLayout(
              layout: RecordLayout(entity: entity.number, number: number, fields: []),
              defaults: []))
        }
      }
    }
    self.schema = schema
    self.layouts = layouts
    self.origin = origin
    self.isCatalogMade = isCatalogMade
    lostLayouts = lost
  }

  /// Returns the models in the file, the header's model first.
  private static func models(_ source: SalvageSource) -> [ManagedObjectModel] {
    let models = source.entries.models.compactMap { found -> ManagedObjectModel? in
      do throws(StoreError) {
        let model = try found.bytes.withUnsafeBufferPointer { (bytes) throws(StoreError) in
          try ModelCodec.decode(UnsafeRawBufferPointer(bytes))
        }
        return try OfferedModel(model).checked()
      } catch { return nil }
    }
    let fingerprint = source.header?.modelFingerprint
    return models.filter { $0.fingerprint == fingerprint }
      + models.filter { $0.fingerprint != fingerprint }
  }

  /// Compiles the model with a catalog. Returns `nil` if they don't match, or if the layouts that
  /// were found contradict the result.
  private static func fit(
    _ model: ManagedObjectModel, _ catalog: SchemaCatalog, _ source: SalvageSource
  ) -> ModelSchema? {
    guard let schema = try? StoreOpener.schema(model, catalog) else { return nil }
    for entity in schema.concreteEntities {
      guard let found = layout(entity.layout.number, of: entity, source) else { continue }
      guard found.layout.fields.elementsEqual(entity.layout.fields, by: { $0.isStored(as: $1) })
      else { return nil }
    }
    return schema
  }

  private static func layout(
    _ number: UInt16, of entity: EntitySchema, _ source: SalvageSource
  ) -> StoredLayout? {
    let key = StoreFormat.layoutKey(entity: entity.number, layout: number)
    return source.entries.layouts[key].flatMap { found in
      found.bytes.withUnsafeBytes {
        LayoutCodec.decode($0, entity: entity.number, number: number, seed: entity.layout.seed)
      }
    }
  }
}
