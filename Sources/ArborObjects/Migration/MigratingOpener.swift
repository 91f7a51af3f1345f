internal import ArborFoundation
internal import ArborModel
internal import ArborStore

/// The opening of a store's file, after a staged migration if it needs one.
struct MigratingOpener {
  private let opening: StoreOpening
  private let options: StoreOptions
  private let report: @Sendable (MigrationProgress) -> Void

  init(
    _ opening: StoreOpening, _ options: StoreOptions,
    _ report: @Sendable @escaping (MigrationProgress) -> Void = { _ in }
  ) {
    var opening = opening
    opening.onIndexProgress = { builds in
      if let progress = MigrationProgress(builds) { report(progress) }
    }
    self.opening = opening
    self.options = options
    self.report = report
  }

  func open() throws(ArborError) -> StoreEngine {
    guard let model = opening.model, case .file(let path) = opening.location, !opening.isReadOnly,
      case .lightweight = opening.migration
    else { return try reporting(StoreEngine.open(opening)) }
    var first = opening
    first.replacesOtherModels = false
    // The migration path is chosen before the file changes.
    let isChain =
      !options.migrationSteps.isEmpty || !options.modelVersions.isEmpty
      || !options.siblingVersions.isEmpty
    if isChain || options.migrationPlan != nil { first.migration = .refuse }
    do throws(StoreError) {
      let engine = try StoreEngine.open(first)
      if let path = engine.path { MigrationLock.removeLeft(byStore: path) }
      return engine
    } catch {
      guard Self.asksForMigration(error, to: model) else { throw ArborError(opening: error) }
    }
    var known: MigrationChain?
    do throws(ArborError) {
      let files = try reporting(MigrationFiles(path: path))
      let stored = try reporting(StoreOpening.reading(path).withFile { $0.schema.model })
      let chain = try MigrationChain(from: stored, to: model, options)
      known = chain
      if let plan = options.migrationPlan, plan.digest != chain.digest {
        throw ArborError(
          .modelMismatch,
          "options.migrationPlan was created for a different store, model or set of migration "
            + "steps. Create a new plan.")
      }
      if let inPlace = try inPlace(chain, files) {
        return try reporting(StoreEngine.open(inPlace))
      }
      guard options.migration.isStaged || !chain.takesSteps else {
        throw Self.needsCode(chain)
      }
      try StagedMigration(files, chain, opening, options, report).run()
    } catch {
      guard error.code == .modelMismatch, opening.replacesOtherModels else {
        throw known.map { completed(error, $0, path, model) } ?? error
      }
    }
    return try reporting(StoreEngine.open(opening))
  }

  /// Returns a refusal with everything that prevents the migration. Opening itself stops earlier:
  /// at the first obstacles in the models, in the objects of the first pass, or in unique indexes.
  private func completed(
    _ error: ArborError, _ chain: MigrationChain, _ path: String, _ model: ManagedObjectModel
  ) -> ArborError {
    guard error.code == .modelMismatch, !error.violations.isEmpty, !chain.takesSteps,
      let plan = try? PersistentStore.migrationPlan(
        for: URL(filePath: path), to: model, options: options), !plan.obstacles.isEmpty
    else { return error }
    let unknownNames = chain.hops.flatMap { hop in
      MigrationOutline(
        hop.source.difference(to: hop.target, via: hop.versions),
        dropping: opening.migration.names
      ).unknownNames
    }
    return ArborError(
      opening: .modelMismatch(
        MigrationRefusal(
          .obstacles, obstacles: plan.obstacles.map(\.asRefused), unknownNames: unknownNames)))
  }

  /// Returns whether opening failed because of a model that the store can be migrated to.
  private static func asksForMigration(_ error: StoreError, to model: ManagedObjectModel) -> Bool {
    switch error {
    case .modelMismatch: true
    // If it is this migration, it is resumed.
    case .migrationUnderWay(let marker): marker.target == model.fingerprint
    default: false
    }
  }

  /// Returns the options for opening the store with a migration that changes only the catalog, or
  /// `nil` if the migration requires more.
  private func inPlace(
    _ chain: MigrationChain, _ files: MigrationFiles
  ) throws(ArborError) -> StoreOpening? {
    if chain.takesSteps { return nil }
    var opening = opening
    opening.replacesOtherModels = false
    guard let hop = chain.hops.first else { return opening }
    opening.versionsBetween = hop.versions
    let models = try reporting(StagedModels(ofStoreAt: files.path, to: hop))
    guard models.needsPass else { return opening }
    if options.migration.isStaged { return nil }
    let store = try PersistentStore(at: .path(files.path), options: StoreOptions(isReadOnly: true))
    defer { store.close() }
    let survey = MigrationSurvey(context: store.makeContext(), models: models)
    return try survey.passesNothing() ? nil : opening
  }

  private static func needsCode(_ chain: MigrationChain) -> ArborError {
    let steps = chain.hops.filter { $0.step != nil }.map {
      "\($0.source.versionName) to \($0.target.versionName)"
    }
    return ArborError(
      .modelMismatch,
      "The store has an older version of the model. Its migration runs code from version "
        + "\(steps.joined(separator: " and from ")), which .lightweightOnly doesn't allow. Set "
        + "options.migration to .automatic.")
  }
}

/// Returns the result of work in the store layer before a store is open, converting its errors to
/// public ones. ``StoreEngine/reporting(_:)`` does the same for an open store.
func reporting<R>(_ work: @autoclosure () throws(StoreError) -> R) throws(ArborError) -> R {
  do throws(StoreError) { return try work() } catch { throw ArborError(opening: error) }
}

extension StagedModels {
  /// Creates the models for one hop of the store at a path.
  init(
    ofStoreAt path: String, to hop: MigrationHop, renames: [String: String] = [:]
  ) throws(StoreError) {
    self = try StoreOpening.reading(path).withFile { source throws(StoreError) in
      try StagedModels(from: source.schema, to: hop.target, via: hop.versions, renames: renames)
    }
  }
}

extension StoreOpening.Migration {
  /// The names of the data that may be dropped, or `nil` for all data.
  var names: Set<String>? {
    if case .lightweight(let names) = self { names } else { [] }
  }
}

extension StoreOpening {
  func withFile<R>(_ body: (StoreEngine) throws(StoreError) -> R) throws(StoreError) -> R {
    let engine = try StoreEngine.open(self)
    defer { engine.close() }
    return try body(engine)
  }

  /// Returns options for opening a file read-only with its own model.
  static func reading(_ path: String) -> StoreOpening {
    var opening = StoreOpening(.file(path), model: nil)
    opening.isReadOnly = true
    return opening
  }

  /// Returns options for opening a file with its own model, ignoring the marker of a migration.
  static func migrating(_ path: String) -> StoreOpening {
    var opening = StoreOpening(.file(path), model: nil)
    opening.isMigrating = true
    opening.indexBuilds = .left
    return opening
  }
}

extension StoreOptions {
  /// Opens a store's file, migrating it to the model if necessary.
  ///
  /// - Parameter model: The model, or `nil` for the model in the file.
  func open(
    _ location: StoreLocation, model: ManagedObjectModel?
  ) throws(ArborError) -> StoreEngine {
    try MigratingOpener(try opening(location, model: model), self).open()
  }
}
