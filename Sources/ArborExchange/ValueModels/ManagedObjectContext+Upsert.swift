public import ArborModel
public import ArborObjects

extension ManagedObjectContext {
  /// Writes a model into the object that it is, or into a new one, and the models that it leads to
  /// into theirs. Nothing is committed.
  ///
  /// A model is the object that has its values of ``ValueModel/uniquingKeys``, uncommitted objects
  /// included; without such keys, where one of them is nil, and where there is no such object, it
  /// becomes a new one. The objects of all models are looked up in one fetch per entity. One
  /// instance of a class becomes one object, whatever leads to it.
  ///
  /// What was passed in wins: another model of the same object, to which a relationship or a back
  /// reference leads, refers to the object and changes nothing of it, and what only such a model
  /// leads to is not written.
  ///
  /// Nil clears an attribute, or leaves that of a new object at its default, and leaves a
  /// relationship as it is. A collection becomes the members of its relationship: others are
  /// unlinked, not deleted, and an empty one unlinks all. A property that stays as it is, is no
  /// change.
  ///
  /// ```swift
  /// let object = try context.upsert(banner)
  /// try context.commit()
  /// ```
  ///
  /// Rules of the model file, such as that an attribute is mandatory, are checked by the commit.
  ///
  /// - Returns: The model's object.
  /// - Throws: ``ArborError``: `invalidManagedKey` for a property that the entity has not;
  ///   `unsupportedProperty` and `unsupportedRelationship` where the entity cannot hold the
  ///   property's type, a relationship's also where the property is nil or empty; `initialization`
  ///   for a property of another type than its transformer's; `typeMismatch` for a number out of
  ///   the attribute's range; `invalidMapping`; `uniqueFetchFailed`; `modelError` for
  ///   what a transformer, ``ValueModel/merge(from:)`` or the model's `encode(to:)` throws. The context is then exactly
  ///   as it was before.
  /// - Complexity: Linear in the number of models, beside one indexed fetch per entity.
  @discardableResult
  public func upsert(_ model: some ValueModel) throws(ArborError) -> ManagedObject {
    let objects = try upsert([model])
    guard let object = objects.first else {
      throw ArborError(.uniqueFetchFailed, "The model became no object; write it again.")
    }
    return object
  }

  /// Writes models, of one type or of several, into the objects that they are, or into new ones, all
  /// or none of them; as one model. Nothing is committed. Of several models that are one object the
  /// later ones overwrite.
  ///
  /// - Returns: The objects, in the order of the models.
  /// - Throws: As for a single model; the context is then exactly as it was before.
  @discardableResult
  public func upsert(_ models: [any ValueModel]) throws(ArborError) -> [ManagedObject] {
    do {
      return try withSavepoint {
        let planner = ModelPlanner(self)
        let items = try models.map(planner.root)
        let run = ExchangeRun(planner.plan, in: self, ExchangeLimit(self))
        try run.carryOut(planner)
        return items.compactMap { run.objects[Int($0)] }
      }
    } catch {
      throw ArborError(byModel: error)
    }
  }
}
