public import ArborModel

/// What goes wrong between value models, JSON and the store.
extension ArborError.Code {
  /// A model's `modelType(for:)` has no type for an object, or one that cannot stand for the type
  /// that was asked for.
  public static let noModelType = ArborError.Code(rawValue: "noModelType")
  /// A model cannot be made of what is there: a property without a value has to have one, or the
  /// model's own `init(from:)` has thrown what lies beneath.
  public static let initialization = ArborError.Code(rawValue: "initialization")
  /// A model's own code has thrown: a transformer, `merge(from:)`, `validate()` or `encode(to:)`. Its
  /// error is ``ArborError/underlying``.
  public static let modelError = ArborError.Code(rawValue: "modelError")
  /// A property's name in the entity is none of the entity's.
  public static let invalidManagedKey = ArborError.Code(rawValue: "invalidManagedKey")
  /// A property's type is none that its attribute can hold.
  public static let unsupportedProperty = ArborError.Code(rawValue: "unsupportedProperty")
  /// A property that is a relationship is no model, or no collection of models.
  public static let unsupportedRelationship = ArborError.Code(rawValue: "unsupportedRelationship")
  /// The objects that models are could not be looked up; the reason lies beneath.
  public static let uniqueFetchFailed = ArborError.Code(rawValue: "uniqueFetchFailed")
  /// What a model type says of itself contradicts its properties, its entity or itself.
  public static let invalidMapping = ArborError.Code(rawValue: "invalidMapping")
}

extension ArborError {
  /// The error for one that was thrown by a model's own code, or by the library itself.
  init(byModel error: any Error) {
    self =
      error as? ArborError
      ?? ArborError(
        .modelError,
        "The model's own code threw \(type(of: error)); see the error beneath."
      ).with(underlying: error)
  }
}
