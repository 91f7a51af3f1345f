internal import ArborStore

extension StoreOptions {
  /// The handling of a file that was written with another version of the model.
  ///
  /// The store is migrated when it is opened, in one small transaction: the catalog is changed,
  /// records are read in their new form and rewritten when they are next changed, and only new
  /// indexes and rules take time proportional to the number of objects. Changes that require custom
  /// code or a pass over the objects are made in a copy, which replaces the store at the end. The
  /// article *Model changes* lists the effect of each change.
  ///
  /// ```swift
  /// var options = StoreOptions()
  /// options.migration = .automatic(dropping: ["Site.isPublic", "Legacy"])
  /// let store = try PersistentStore(model: model, at: .file(url), options: options)
  /// ```
  ///
  /// No data is lost unless it is explicitly named. Opening throws `modelMismatch`, with a
  /// violation and a remedy for each obstacle, if unnamed data would be lost, if a change requires
  /// code that no step provides, or if objects violate a rule of the model or share values that
  /// have become unique. It throws `inUse` if this process has the store open with its old model.
  /// In these cases the file is unchanged, unless ``StoreOptions/onMismatch`` specifies otherwise.
  /// Other processes that have the file open receive `modelChanged` at their next commit, and at
  /// their next fetch if they could misread data written with the new model; they must open it
  /// again. A store that is opened read-only is never changed.
  public struct Migration: Sendable, Hashable {
    /// The data that a migration may drop.
    ///
    /// A list of names, each of the form `Entity` or `Entity.property`, as in the file's model.
    /// Names of data that is not dropped are ignored, so a list can be kept across versions.
    public struct Dropping: Sendable, Hashable, ExpressibleByArrayLiteral {
      /// The names, or `nil` for everything that is no longer in the model.
      let names: Set<String>?

      /// Everything that is no longer in the model.
      public static let everythingRemoved = Dropping(names: nil)

      /// Creates a list of names.
      public init(_ names: some Sequence<String>) { self.names = Set(names) }

      /// Creates a list of names.
      public init(arrayLiteral names: String...) { self.names = Set(names) }

      private init(names: Set<String>?) { self.names = names }
    }

    /// The migration, converted to the type of the store layer.
    let stored: StoreOpening.Migration
    /// Whether steps with custom code and passes over the objects are performed.
    var isStaged = true
  }
}

extension StoreOptions.Migration {
  /// Migrates the store if no data is lost.
  public static var automatic: Self { automatic(dropping: []) }

  /// Migrates the store. The named data may be lost.
  ///
  /// - Parameter names: Names as in the file's model: `Entity` for its objects, `Entity.property`
  ///   for its values or links.
  public static func automatic(dropping names: Dropping) -> Self {
    Self(stored: .lightweight(dropping: names.names))
  }

  /// Migrates the store if that requires neither custom code nor a pass over its objects, and no
  /// data is lost. A pass over an entity that has no objects is allowed and is performed in a copy
  /// of the file.
  public static var lightweightOnly: Self { lightweightOnly(dropping: []) }

  /// Migrates the store if that requires neither custom code nor a pass over its objects. The named
  /// data may be lost, as with ``automatic(dropping:)``.
  public static func lightweightOnly(dropping names: Dropping) -> Self {
    Self(stored: .lightweight(dropping: names.names), isStaged: false)
  }

  /// Leaves the store unchanged. Opening throws `modelMismatch` with all differences.
  public static var refuse: Self { Self(stored: .refuse) }
}
