internal import ArborFoundation

/// A property or a path of properties in a request, written as a key path of a class or as a
/// string.
///
/// ```swift
/// request.propertiesToFetch = [PropertyPath(\Employee.company?.name), "average(salary) AS average"]
/// let hits = try context.search(Article.self, "swift", weights: [PropertyPath(\Article.title): 3])
/// try context.upsert(Country.self, matching: ["code": "FR"], values: ["name": "France"])
/// ```
///
/// If a request accepts expressions in the predicate language, as for the columns of rows, the
/// string can be an expression.
public struct PropertyPath: Sendable, Hashable, ExpressibleByStringInterpolation,
  CustomStringConvertible
{
  /// The dot-separated names, or the text of an expression.
  public let keyPath: String
  /// The error for an invalid key path, or `nil` for a valid one.
  private let failure: RequestFailure?

  /// Creates a path from its names, or from the text of an expression.
  public init(_ keyPath: String) {
    self.keyPath = keyPath
    failure = nil
  }

  /// Creates a path from its names, or from the text of an expression.
  public init(stringLiteral keyPath: String) { self.init(keyPath) }

  /// Creates an invalid path. Every operation that uses it throws the error.
  package init(failing error: ArborError) {
    keyPath = ""
    failure = RequestFailure(error)
  }

  /// The names, or the text of the expression.
  public var description: String { keyPath }

  /// Returns the text of the path.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` if the key path doesn't refer to modelled
  ///   properties.
  package func text() throws(ArborError) -> String {
    if let failure { throw failure.error }
    return keyPath
  }
}

extension PropertyPath {
  /// Returns whether two paths are the same. Texts of expressions are compared by code point, like
  /// the strings in them.
  public static func == (left: Self, right: Self) -> Bool {
    StoredText(left.keyPath) == StoredText(right.keyPath) && left.failure == right.failure
  }

  /// Hashes the path.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(StoredText(keyPath))
    hasher.combine(failure)
  }
}
