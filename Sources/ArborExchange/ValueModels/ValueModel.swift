public import ArborJSON
public import ArborObjects

/// A structure or class that can be converted to and from JSON and managed objects.
///
/// The properties of a model are those of `Codable`, identified by their coding keys. The optional
/// static properties of the protocol map them to JSON and to the store.
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
/// A property that contains another model, an optional model or a collection of models is a nested
/// object in JSON and a relationship in the store. Classes preserve identity: within one call, each
/// managed object has one instance and each instance has one object, regardless of the number of
/// references. If instances form a cycle, the properties that close the cycle must be
/// ``backReferences``.
///
/// A subclass implements `init(from:)` and `encode(to:)` and passes the decoder or encoder to its
/// superclass, either directly or by `superDecoder()` and `superEncoder()`. Both classes share one
/// object.
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
  /// The name of the entity of the model. Defaults to the name of the type.
  static var entityName: String { get }

  /// The coding keys of the properties that together identify the object of a model. Defaults to an
  /// empty set, so that each model inserts an object.
  ///
  /// The keys refer to attributes and to at most one to-one relationship, which doesn't require a
  /// coding key. With a relationship, the attributes identify the object within the destination of
  /// the relationship: the destination of the model itself, or else the object of the model that
  /// contains this one. A model inserts an object if one of the properties is `nil`.
  static var uniquingKeys: Set<String> { get }

  /// The names of the properties in the entity. Defaults to the coding keys.
  static var managedKeys: ValueModelMapping { get }

  /// The paths of the properties in JSON. Defaults to the coding keys.
  static var jsonKeyPaths: JSONKeyPaths { get }

  /// The transformers of properties whose JSON differs from their own coding, by coding key.
  static var jsonTransformers: [String: JSONTransformer] { get }

  /// The transformers of properties whose type differs from that of their attribute, by coding key.
  static var managedTransformers: [String: ManagedTransformer] { get }

  /// The properties that refer back to models that contain this one.
  ///
  /// Back references are optional properties of a class. They are set after all models of a call
  /// have been created, and after ``validate()``. A back reference must have a coding key, or be a
  /// stored property of a final class, whose name is then used as the coding key.
  ///
  /// ```swift
  /// static var backReferences: [AnyKeyPath] { [\Child.parent] }
  /// ```
  static var backReferences: [AnyKeyPath] { get }

  /// A model that provides default values for missing properties. Defaults to `nil`.
  ///
  /// A default value is used for a missing JSON key, for an empty relationship and for an excluded
  /// property. Without defaults, such properties must be optional and are `nil`.
  ///
  /// ```swift
  /// static var defaults: (any ValueModel)? { Settings() }
  /// ```
  static var defaults: (any ValueModel)? { get }

  /// Returns the type of the model to create from a managed object. Defaults to this type.
  /// Implementations can return a subclass. If the result is `nil`, the call throws `noModelType`.
  static func modelType(for object: ManagedObject) -> (any ValueModel.Type)?

  /// Returns the type of the model to create from a managed object. For models that return a type
  /// for every object.
  static func modelType(for object: ManagedObject) -> any ValueModel.Type

  /// Returns the type of the model to create from a JSON object. Defaults to this type.
  /// Implementations can return a subclass. If the result is `nil`, the call throws `noModelType`.
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

  /// Returns the type of the model to create from a JSON object. Implement this overload if there
  /// is a type for every object.
  static func modelType(for json: JSONValue) -> any ValueModel.Type

  /// Copies values that must not be overwritten from the existing object of a model. Called before
  /// the properties of the model are written to the object. The default implementation does
  /// nothing.
  ///
  /// - Throws: Any error. The calling operation throws it as a `modelError` and leaves the context
  ///   unchanged.
  mutating func merge(from object: ManagedObject) throws

  /// Validates a model that was created from JSON or from a managed object. Can also correct the
  /// model. The default implementation does nothing.
  ///
  /// - Throws: Any error. The calling operation throws it as a `modelError`.
  mutating func validate() throws

  /// Returns the coding keys of the properties to include in JSON. The default implementation
  /// returns all keys.
  ///
  /// - Parameter keys: The coding keys of the properties that the model encodes.
  func serializableKeys(_ keys: Set<String>) -> Set<String>
}

extension ValueModel {
  /// The name of the type.
  public static var entityName: String { "\(Self.self)" }
  /// An empty set: each model inserts an object.
  public static var uniquingKeys: Set<String> { [] }
  /// The coding keys of the properties.
  public static var managedKeys: ValueModelMapping { .identity }
  /// The coding keys of the properties.
  public static var jsonKeyPaths: JSONKeyPaths { [:] }
  /// An empty dictionary.
  public static var jsonTransformers: [String: JSONTransformer] { [:] }
  /// An empty dictionary.
  public static var managedTransformers: [String: ManagedTransformer] { [:] }
  /// An empty list.
  public static var backReferences: [AnyKeyPath] { [] }
  /// No defaults.
  public static var defaults: (any ValueModel)? { nil }

  /// Returns the type that the overload with a nonoptional result returns.
  public static func modelType(for object: ManagedObject) -> (any ValueModel.Type)? {
    let type: any ValueModel.Type = modelType(for: object)
    return type
  }

  /// Returns the type itself.
  public static func modelType(for object: ManagedObject) -> any ValueModel.Type { Self.self }

  /// Returns the type that the overload with a nonoptional result returns.
  public static func modelType(for json: JSONValue) -> (any ValueModel.Type)? {
    let type: any ValueModel.Type = modelType(for: json)
    return type
  }

  /// Returns the type itself.
  public static func modelType(for json: JSONValue) -> any ValueModel.Type {
    ModelHook.noteDefault()
    return Self.self
  }

  /// Does nothing.
  public mutating func merge(from object: ManagedObject) throws { ModelHook.noteDefault() }

  /// Does nothing.
  public mutating func validate() throws { ModelHook.noteDefault() }

  /// Returns all keys.
  public func serializableKeys(_ keys: Set<String>) -> Set<String> {
    ModelHook.noteDefault()
    return keys
  }
}
