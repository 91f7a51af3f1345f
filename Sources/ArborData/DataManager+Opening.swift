public import ArborModel
public import ArborObjects
public import Foundation

extension DataManager {
  /// Opens a store with a model that is looked up by name in a folder.
  ///
  /// The store is a file named after the alias, in a folder named after the process (see
  /// ``StoreFolder``) inside the platform's folder for application data: `$XDG_DATA_HOME` or
  /// `~/.local/share`, or Application Support on Apple platforms. Opening the same alias twice in a
  /// process shares one store, which keeps the options it was first opened with.
  ///
  /// ```swift
  /// let manager = try DataManager(modelNamed: "CorporateMayhem", in: modelsFolder)
  /// let drafts = try DataManager(modelNamed: "CorporateMayhem", in: modelsFolder, alias: "Drafts")
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of a `.xcdatamodeld`, a `.xcdatamodel` or a `.model.json`, searched for in
  ///     this order.
  ///   - folder: The folder that contains the model.
  ///   - alias: The store's name, to which `.arbor` is appended. `nil` uses the model's name.
  ///   - fileName: The exact name of the store's file, used instead of the alias. `nil` derives it
  ///     from the alias.
  ///   - options: Options for opening the store. Migration steps may refer to the versions in the
  ///     model file.
  ///   - classes: The typed classes that represent entities of the model. Objects of other entities
  ///     are plain ``ManagedObject`` instances.
  ///   - delegate: The delegate to notify of changes. Held weakly.
  ///   - group: The group to join.
  /// - Throws: ``ArborError`` if the model is missing or invalid, the store cannot be opened, or
  ///   the alias is already open with another model.
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

  /// Opens a store with a model that is looked up by name among a bundle's resources.
  ///
  /// Otherwise behaves like the initializer that takes a folder.
  ///
  /// - Throws: ``ArborError`` if the model is missing or invalid, the store cannot be opened, or
  ///   the alias is already open with another model.
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
  /// - Throws: ``ArborError`` if the model is invalid or the store cannot be opened.
  public convenience init(
    model: ManagedObjectModel, at location: StoreLocation, options: StoreOptions = StoreOptions(),
    classes: [ManagedObject.Type] = [], delegate: (any DataManagerDelegate)? = nil,
    group: DataManagerGroup? = nil
  ) throws(ArborError) {
    let store = try PersistentStore(
      model: model, at: location, options: options.asking(delegate, at: location), classes: classes)
    self.init(store: store, delegate: delegate, group: group)
  }

  /// Opens a store with the model that the given classes describe.
  ///
  /// - Throws: ``ArborError`` if the classes contradict each other or the store cannot be opened.
  public convenience init(
    for types: [ManagedObject.Type], at location: StoreLocation,
    options: StoreOptions = StoreOptions(), delegate: (any DataManagerDelegate)? = nil,
    group: DataManagerGroup? = nil
  ) throws(ArborError) {
    let store = try PersistentStore(
      for: types, at: location, options: options.asking(delegate, at: location))
    self.init(store: store, delegate: delegate, group: group)
  }

  /// Opens a store with the model that the given classes describe.
  ///
  /// ```swift
  /// let manager = try DataManager(for: Company.self, Employee.self, at: .file(url))
  /// ```
  ///
  /// - Throws: ``ArborError`` if the classes contradict each other or the store cannot be opened.
  public convenience init(
    for types: ManagedObject.Type..., at location: StoreLocation,
    options: StoreOptions = StoreOptions(), delegate: (any DataManagerDelegate)? = nil,
    group: DataManagerGroup? = nil
  ) throws(ArborError) {
    try self.init(for: types, at: location, options: options, delegate: delegate, group: group)
  }
}

extension StoreOptions {
  /// Returns the options, with migration refused if the delegate doesn't support it.
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
