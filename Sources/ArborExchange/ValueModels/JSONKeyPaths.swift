import ArborJSON

/// The JSON key paths of the properties of a value model, by coding key. A property without an
/// entry uses its coding key as its JSON key.
///
/// ```swift
/// static let jsonKeyPaths: JSONKeyPaths = [
///   "bannerID": "id",                             // another name
///   "picURL": "images.small",                     // dots descend into objects
///   "place": ["latitude", "longitude"],           // one property from several values
///   "cached": nil,                                // excluded
/// ]
/// ```
public struct JSONKeyPaths: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  private(set) var paths: [String: JSONKeyPath] = [:]

  /// The key paths of a model whose JSON keys equal its coding keys.
  public static let identity: JSONKeyPaths = [:]

  /// Creates key paths from a dictionary literal of coding keys and paths. The last entry of a
  /// duplicate key is used.
  public init(dictionaryLiteral elements: (String, JSONKeyPath)...) {
    for (key, path) in elements { paths[key] = path }
  }

  /// Returns a copy with different paths for the given coding keys.
  public func renaming(_ paths: [String: JSONKeyPath]) -> JSONKeyPaths {
    var result = self
    result.paths.merge(paths) { _, new in new }
    return result
  }

  /// Returns a copy that excludes properties from JSON. An excluded property must be optional or
  /// have no coding key.
  public func excluding(_ keys: String...) -> JSONKeyPaths {
    var result = self
    for key in keys { result.paths[key] = JSONKeyPath.none }
    return result
  }

  /// Returns the path of the property with a coding key.
  public subscript(key: String) -> JSONKeyPath { paths[key] ?? .key(key) }
}

/// The path of a property of a value model in a JSON object.
///
/// A path consists of names separated by dots. Each name descends into an object, or into a list if
/// the name is an index, as in `tags.0`. A path has no value if a name is missing, and is null if a
/// value on the path is null. Any other value on the path is an error. A key that equals the entire
/// path takes precedence over the path. A backslash before a dot makes the dot part of a name:
/// `API\\.Log`.
///
/// Several paths combine several values into one property. A type with keyed coding finds each
/// value under its path or under the last name of the path. A transformer receives an object of the
/// values by their paths. A property that is a single scalar or list reads the first path that is
/// present and writes to the first path.
public struct JSONKeyPath: Sendable, Hashable {
  /// The parsed paths.
  let ways: [JSONMemberPath]

  /// The path of an excluded property.
  public static let none = JSONKeyPath(ways: [])

  /// Creates a path of a single name, in which dots aren't separators.
  public static func key(_ name: String) -> JSONKeyPath {
    JSONKeyPath(ways: [JSONMemberPath(key: name)])
  }

  /// Creates a path from names separated by dots.
  public init(_ path: String) { self.init(ways: [JSONMemberPath(path)]) }

  /// Creates a path that combines several paths of names separated by dots.
  public init(_ paths: [String]) { self.init(ways: paths.map { JSONMemberPath($0) }) }

  private init(ways: [JSONMemberPath]) { self.ways = ways }

  /// The name, if the path consists of one path of one name; otherwise `nil`.
  var onlyName: String? {
    guard ways.count == 1, ways[0].names.count == 1 else { return nil }
    return ways[0].names[0]
  }
}

extension JSONKeyPath: ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
  ExpressibleByNilLiteral
{
  /// Creates a path from names separated by dots.
  public init(stringLiteral path: String) { self.init(path) }
  /// Creates a path that combines several paths.
  public init(arrayLiteral paths: String...) { self.init(paths) }
  /// Creates the path of an excluded property.
  public init(nilLiteral: ()) { self = .none }
}
