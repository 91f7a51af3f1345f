public import ArborModel

/// What goes wrong between value models, JSON and the store.
extension ArborError.Code {
  /// A model's `modelType(for:)` has no type for an object, or one that cannot stand for the type
  /// that was asked for.
  public static let noModelType = ArborError.Code(rawValue: "noModelType")
  /// A model cannot be made of what is there: a property without a value has to have one, or the
  /// model's own `init(from:)` has thrown what lies beneath.
  public static let initialization = ArborError.Code(rawValue: "initialization")
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

/// An error that belongs to the code that is called, a transformer or a model's check, on its way
/// through the initializers of models.
struct OwnError: Error {
  let error: any Error

  /// The error that a caller gets for one that was thrown on the way.
  static func unwrap(_ error: any Error) -> any Error { (error as? OwnError)?.error ?? error }
}
