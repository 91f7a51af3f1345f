public import ArborJSON
public import ArborObjects

/// A Swift value, structure or class, that is made from JSON and from stored objects and goes back
/// into both.
///
/// The properties are those of `Codable`, by their coding keys. What the type says beside them
/// tells where each lies in JSON and in the store; all of it may be left out.
///
/// ```swift
/// struct Banner: ValueModel {
///   var bannerID: Int
///   var picURL: URL?
///   var children: [Item]
///   var cached: Bool?
///   static let entityName = "Banner"
///   static let uniquingKeys: Set<String> = ["bannerID"]
///   static let managedKeys: ValueModelMapping = .identity
///     .renaming(["bannerID": "id"]).excluding("cached")
///   static let jsonKeyPaths: JSONKeyPaths = ["bannerID": "id", "picURL": "images.small"]
/// }
/// let banners = try ValueAdapter.decode([Banner].self, from: .data(response))
/// let objects = try context.upsert(banners)
/// let banner = try Banner(objects[0])
/// ```
///
/// A property of another model, optional or in any collection, is a nested object in JSON and a
/// relationship in the store. Classes keep their identity: within one call one stored object is one
/// instance, and one instance becomes one object, however many lead to it. Where instances lead
/// back to each other the properties that close a circle are ``backReferences``.
///
/// A subclass writes `init(from:)` and `encode(to:)` itself and hands the decoder or encoder on to
/// its superclass as it is, or by `superDecoder()`: both share one object.
///
/// ## Topics
/// ### The store
/// - ``entityName``
/// - ``managedKeys``
/// - ``managedTransformers``
/// - ``uniquingKeys``
/// - ``backReferences``
/// - ``merge(from:)``
/// ### JSON
/// - ``jsonKeyPaths``
/// - ``jsonTransformers``
/// - ``serializableKeys(_:)``
/// ### Both
/// - ``defaults``
/// - ``validate()``
public protocol ValueModel: Codable, SendableMetatype {
  /// The entity whose objects the models are; the type's own name unless said otherwise.
  static var entityName: String { get }

  /// The properties that together identify the object of a model, by their coding keys; none by
  /// default, so that each model becomes a new object. They are attributes, and at most one to-one
  /// relationship, which needs no coding key: the others then identify the object within the one
  /// that it leads to, the model's own or that of the model of which this one is a member. A model
  /// with nil for one of them is always a new object.
  static var uniquingKeys: Set<String> { get }

  /// The names of the properties in the entity; their own ones at first.
  static var managedKeys: ValueModelMapping { get }

  /// The paths of the properties in JSON; their own names at first.
  static var jsonKeyPaths: JSONKeyPaths { get }

  /// What turns properties into JSON and back where their own coding does not, by coding keys.
  static var jsonTransformers: [String: JSONTransformer] { get }

  /// What turns properties into attributes and back where their own type does not, by coding keys.
  static var managedTransformers: [String: ManagedTransformer] { get }

  /// The properties that lead back to models on the way to this one. They are optional properties
  /// of a class, and set once all models of a call have been made, after ``validate()``. They have
  /// coding keys, or are stored properties of a final class under their own names.
  ///
  /// ```swift
  /// static var backReferences: [AnyKeyPath] { [\Child.parent] }
  /// ```
  static var backReferences: [AnyKeyPath] { get }

  /// A model whose properties stand in where none exist: for a key that is missing in JSON, for
  /// a relationship to nothing, and for a property that takes no part. Nil at first: without it
  /// such properties are optional, and nil.
  ///
  /// ```swift
  /// static var defaults: (any ValueModel)? { Settings() }
  /// ```
  static var defaults: (any ValueModel)? { get }

  /// The type to make of a stored object: this one at first, else one that can stand for it, as a
  /// subclass. Nil: none exists, which is an error `noModelType`.
  static func modelType(for object: ManagedObject) -> (any ValueModel.Type)?

  /// The type to make of a stored object, for models that have one for every object.
  static func modelType(for object: ManagedObject) -> any ValueModel.Type

  /// The type to make of a JSON object: this one at first, else one that can stand for it, as a
  /// subclass. Nil: none exists, which is an error `noModelType`.
  ///
  /// ```swift
  /// class Shape: ValueModel {
  ///   class func modelType(for json: JSONValue) -> (any ValueModel.Type)? {
  ///     switch json["type"]?.string {
  ///     case "circle": Circle.self
  ///     case "square": Square.self
  ///     default: nil
  ///     }
  ///   }
  /// }
  /// ```
  static func modelType(for json: JSONValue) -> (any ValueModel.Type)?

  /// The type to make of a JSON object, for models that have one for every object.
  static func modelType(for json: JSONValue) -> any ValueModel.Type

  /// Takes over from a stored object what the model shall not overwrite; called when a model turns
  /// out to be an object that exists, before its properties go there. Does nothing at first.
  ///
  /// - Throws: Any error; the call that led here throws it as a `modelError` and changes nothing.
  mutating func merge(from object: ManagedObject) throws

  /// Checks a model that was made from JSON or from a stored object, and may correct it. Does
  /// nothing at first.
  ///
  /// - Throws: Any error; the call that led here throws it as a `modelError`.
  mutating func validate() throws

  /// Which of the properties go into JSON, by their coding keys; all at first.
  ///
  /// - Parameter keys: Those that have a value.
  func serializableKeys(_ keys: Set<String>) -> Set<String>
}

extension ValueModel {
  /// The type's own name.
  public static var entityName: String { "\(Self.self)" }
  /// None: each model is an object of its own.
  public static var uniquingKeys: Set<String> { [] }
  /// Each property under its own name.
  public static var managedKeys: ValueModelMapping { .identity }
  /// Each property under its own name.
  public static var jsonKeyPaths: JSONKeyPaths { [:] }
  /// None.
  public static var jsonTransformers: [String: JSONTransformer] { [:] }
  /// None.
  public static var managedTransformers: [String: ManagedTransformer] { [:] }
  /// None.
  public static var backReferences: [AnyKeyPath] { [] }
  /// None.
  public static var defaults: (any ValueModel)? { nil }

  /// What the form says that has a type for every object.
  public static func modelType(for object: ManagedObject) -> (any ValueModel.Type)? {
    let type: any ValueModel.Type = modelType(for: object)
    return type
  }

  /// The type itself.
  public static func modelType(for object: ManagedObject) -> any ValueModel.Type { Self.self }

  /// What the form says that has a type for every object.
  public static func modelType(for json: JSONValue) -> (any ValueModel.Type)? {
    let type: any ValueModel.Type = modelType(for: json)
    return type
  }

  /// The type itself.
  public static func modelType(for json: JSONValue) -> any ValueModel.Type {
    ModelHook.noteDefault()
    return Self.self
  }

  /// Takes over nothing.
  public mutating func merge(from object: ManagedObject) throws { ModelHook.noteDefault() }

  /// Finds nothing wrong.
  public mutating func validate() throws { ModelHook.noteDefault() }

  /// All of them.
  public func serializableKeys(_ keys: Set<String>) -> Set<String> {
    ModelHook.noteDefault()
    return keys
  }
}
