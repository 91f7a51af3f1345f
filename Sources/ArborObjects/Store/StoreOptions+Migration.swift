internal import ArborStore

extension StoreOptions {
  /// What happens with a file that was written with another version of the model.
  ///
  /// The store is brought along as it is opened, in one small transaction: the catalogue changes,
  /// records are read in their new form and rewritten when they are next changed, and only new
  /// indexes and rules take time in proportion to the objects. What takes code or a pass over the
  /// objects is done in a copy, which takes the store's place at the end. The article *Schema
  /// evolution* lists what becomes of each change.
  ///
  /// ```swift
  /// var options = StoreOptions()
  /// options.migration = .automatic(dropping: ["Site.isPublic", "Legacy"])
  /// let store = try PersistentStore(model: model, at: .file(url), options: options)
  /// ```
  ///
  /// Nothing is lost unless it is named. Opening throws `modelMismatch`, with a violation for each
  /// thing that stands in the way and what to do about it, where something would be lost that is
  /// not named, where a change takes code that no step has, and where objects break a
  /// rule of the model or share values that have become unique; `inUse`
  /// where this process has the store open with its former model. The file is as it was then,
  /// unless ``StoreOptions/onMismatch`` says otherwise. Other processes that have it open get
  /// `modelChanged` at their next commit, and at their next fetch where they could misread what is
  /// written with the new model; they open it again. A store that is opened for reading is never
  /// changed.
  public struct Migration: Sendable, Hashable {
    /// What may be lost in a migration.
    ///
    /// A list of names, each `Entity` or `Entity.property` as the file's model has them. A name of
    /// something that is not lost does nothing, so that a list may stand through later versions.
    public struct Dropping: Sendable, Hashable, ExpressibleByArrayLiteral {
      /// nil for everything.
      let names: Set<String>?

      /// Whatever the model no longer has.
      public static let everythingRemoved = Dropping(names: nil)

      /// Lists names.
      public init(_ names: some Sequence<String>) { self.names = Set(names) }

      /// Lists names.
      public init(arrayLiteral names: String...) { self.names = Set(names) }

      private init(names: Set<String>?) { self.names = names }
    }

    /// How a store is opened in the engine's words.
    let stored: StoreOpening.Migration
    /// Whether steps with code and passes over the objects are made.
    var isStaged = true
  }
}

extension StoreOptions.Migration {
  /// The store is brought to the model, if nothing is lost.
  public static var automatic: Self { automatic(dropping: []) }

  /// The store is brought to the model; what is named may be lost.
  ///
  /// - Parameter names: As the file's model has them: `Entity` for its objects, `Entity.property`
  ///   for its values or links.
  public static func automatic(dropping names: Dropping) -> Self {
    Self(stored: .lightweight(dropping: names.names))
  }

  /// The store is brought to the model where that takes neither code nor a pass over its objects,
  /// and nothing is lost. Passes over entities without objects are made, in a copy of the file.
  public static var lightweightOnly: Self { lightweightOnly(dropping: []) }

  /// The store is brought to the model where that takes neither code nor a pass over its objects;
  /// what is named may be lost, as with ``automatic(dropping:)``.
  public static func lightweightOnly(dropping names: Dropping) -> Self {
    Self(stored: .lightweight(dropping: names.names), isStaged: false)
  }

  /// The store is left as it is, and opening throws `modelMismatch` with all that differs.
  public static var refuse: Self { Self(stored: .refuse) }
}
