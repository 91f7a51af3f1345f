public import ArborModel
public import ArborObjects
public import Foundation

extension DataManager {
  /// Opens the store of a model that is found by its name in a folder.
  ///
  /// The store lies in the platform's folder for application data — `$XDG_DATA_HOME` or
  /// `~/.local/share`, on Apple's platforms Application Support — in a folder named after the
  /// process (see ``StoreFolder``), in a file named after the alias. The same alias opened twice in
  /// a process shares one store, which keeps the options it was opened with.
  ///
  /// ```swift
  /// let manager = try DataManager(modelNamed: "CorporateMayhem", in: modelsFolder)
  /// let drafts = try DataManager(modelNamed: "CorporateMayhem", in: modelsFolder, alias: "Drafts")
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of a `.xcdatamodeld`, a `.xcdatamodel` or a `.model.json`, looked for in
  ///     this order.
  ///   - folder: The folder that holds it.
  ///   - alias: The store's name, to which `.arbor` is added; nil: the model's.
  ///   - fileName: The exact name of the store's file, in place of the alias; nil: the alias's.
  ///   - options: How the store is opened. Migration steps may name the versions of the model's
  ///     file.
  ///   - classes: The typed classes that represent entities of the model; others are plain objects.
  ///   - delegate: Who is told of changes; not kept alive.
  ///   - group: The group to join.
  /// - Throws: ``ArborError`` where the model is missing or wrong, the store cannot be opened, or
  ///   the alias is open with another model.
  public convenience init(
    modelNamed name: String, in folder: URL, alias: String? = nil, fileName: String? = nil,
    options: StoreOptions = StoreOptions(), classes: [ManagedObject.Type] = [],
    delegate: (any DataManagerDelegate)? = nil, group: DataManagerGroup? = nil
  ) throws(ArborError) {
    let model = try ModelSearch.file(named: name, in: folder)
    let file = try StoreFolder().file(named: alias ?? name, fileName: fileName)
    let store = try SharedStores.store(
      at: file, modelFile: model, options: options.asking(delegate, at: .file(file)),
      classes: classes)
    self.init(store: store, delegate: delegate, group: group)
  }

  /// Opens the store of a model that is found by its name among a bundle's resources.
  ///
  /// Everything else is as with a folder.
  ///
  /// - Throws: ``ArborError`` where the model is missing or wrong, the store cannot be opened, or
  ///   the alias is open with another model.
  public convenience init(
    modelNamed name: String, in bundle: Bundle = .main, alias: String? = nil,
    fileName: String? = nil, options: StoreOptions = StoreOptions(),
    classes: [ManagedObject.Type] = [], delegate: (any DataManagerDelegate)? = nil,
    group: DataManagerGroup? = nil
  ) throws(ArborError) {
    try self.init(
      modelNamed: name, in: ModelSearch.folder(of: bundle, for: name), alias: alias,
      fileName: fileName, options: options, classes: classes, delegate: delegate, group: group)
  }

  /// Opens a store with a model.
  ///
  /// - Throws: ``ArborError`` where the model is wrong or the store cannot be opened.
  public convenience init(
    model: ManagedObjectModel, at location: StoreLocation, options: StoreOptions = StoreOptions(),
    classes: [ManagedObject.Type] = [], delegate: (any DataManagerDelegate)? = nil,
    group: DataManagerGroup? = nil
  ) throws(ArborError) {
    let store = try PersistentStore(
      model: model, at: location, options: options.asking(delegate, at: location), classes: classes)
    self.init(store: store, delegate: delegate, group: group)
  }

  /// Opens a store with the model that some classes describe.
  ///
  /// - Throws: ``ArborError`` where the classes contradict each other or the store cannot be
  ///   opened.
  public convenience init(
    for types: [ManagedObject.Type], at location: StoreLocation,
    options: StoreOptions = StoreOptions(), delegate: (any DataManagerDelegate)? = nil,
    group: DataManagerGroup? = nil
  ) throws(ArborError) {
    let store = try PersistentStore(
      for: types, at: location, options: options.asking(delegate, at: location))
    self.init(store: store, delegate: delegate, group: group)
  }

  /// Opens a store with the model that some classes describe.
  ///
  /// ```swift
  /// let manager = try DataManager(for: Company.self, Employee.self, at: .file(url))
  /// ```
  ///
  /// - Throws: ``ArborError`` where the classes contradict each other or the store cannot be
  ///   opened.
  public convenience init(
    for types: ManagedObject.Type..., at location: StoreLocation,
    options: StoreOptions = StoreOptions(), delegate: (any DataManagerDelegate)? = nil,
    group: DataManagerGroup? = nil
  ) throws(ArborError) {
    try self.init(for: types, at: location, options: options, delegate: delegate, group: group)
  }
}

extension StoreOptions {
  /// The options, with what a delegate says of migration.
  fileprivate func asking(
    _ delegate: (any DataManagerDelegate)?, at location: StoreLocation
  ) -> StoreOptions {
    let url: URL
    switch location {
    case .file(let file): url = file
    case .path(let path): url = URL(filePath: path)
    case .inMemory: return self
    }
    var options = self
    if delegate?.dataManagerSupportsLightweightMigration(forStoreAt: url) == false {
      options.migration = .refuse
    }
    return options
  }
}
