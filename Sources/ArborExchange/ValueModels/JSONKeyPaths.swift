import ArborJSON

/// The places of the properties of a value model in JSON, by their coding keys. A property that is
/// not named has its own name.
///
/// ```swift
/// static let jsonKeyPaths: JSONKeyPaths = [
///   "bannerID": "id",                             // another name
///   "picURL": "images.small",                     // dots descend into objects
///   "place": ["latitude", "longitude"],           // one property of several values
///   "cached": nil,                                // takes no part
/// ]
/// ```
public struct JSONKeyPaths: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  private(set) var paths: [String: JSONKeyPath] = [:]

  /// Every property under its own name.
  public static let identity: JSONKeyPaths = [:]

  /// The paths by coding keys; of a key that is there twice the last one counts.
  public init(dictionaryLiteral elements: (String, JSONKeyPath)...) {
    for (key, path) in elements { paths[key] = path }
  }

  /// The paths with other ones for some properties.
  public func renaming(_ paths: [String: JSONKeyPath]) -> JSONKeyPaths {
    var result = self
    result.paths.merge(paths) { _, new in new }
    return result
  }

  /// The paths without some properties, which take no part: they are optional, or have no coding
  /// key at all.
  public func excluding(_ keys: String...) -> JSONKeyPaths {
    var result = self
    for key in keys { result.paths[key] = JSONKeyPath.none }
    return result
  }

  /// The path of a property.
  public subscript(key: String) -> JSONKeyPath { paths[key] ?? .key(key) }
}

/// The place of one property of a value model in JSON.
///
/// A path of names descends into objects, and into lists where a name is an index: `tags.0`. It ends
/// without a value where a name is missing, with null where null stands on the way, and anything
/// else on the way is an error. A key that is written like the path wins over it, and a backslash in
/// front of a dot makes the dot a part of a name: `API\\.Log`.
///
/// Several paths are one property of several values. A type that is coded by keys finds each value
/// under its path, or under the path's last name; a transformer gets an object of the values by
/// their paths. A property that is one scalar or list takes the first path that is present, and
/// goes back to the first.
public struct JSONKeyPath: Sendable, Hashable {
  /// The way of each path.
  let ways: [JSONMemberPath]

  /// No place: the property takes no part.
  public static let none = JSONKeyPath(ways: [])

  /// One name, dots included.
  public static func key(_ name: String) -> JSONKeyPath {
    JSONKeyPath(ways: [JSONMemberPath(key: name)])
  }

  /// Names between dots.
  public init(_ path: String) { self.init(ways: [JSONMemberPath(path)]) }

  /// Several paths of names between dots.
  public init(_ paths: [String]) { self.init(ways: paths.map { JSONMemberPath($0) }) }

  private init(ways: [JSONMemberPath]) { self.ways = ways }

  /// The only name of the only path.
  var onlyName: String? {
    guard ways.count == 1, ways[0].names.count == 1 else { return nil }
    return ways[0].names[0]
  }
}

extension JSONKeyPath: ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
  ExpressibleByNilLiteral
{
  /// Names between dots.
  public init(stringLiteral path: String) { self.init(path) }
  /// Several paths.
  public init(arrayLiteral paths: String...) { self.init(paths) }
  /// No place.
  public init(nilLiteral: ()) { self = .none }
}
