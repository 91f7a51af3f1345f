/// A property, or a path of properties, that a request names: a key path of a class, or a string.
///
/// ```swift
/// request.propertiesToFetch = [PropertyPath(\Employee.company?.name), "average(salary) AS average"]
/// let hits = try context.search(Article.self, "swift", weights: [PropertyPath(\Article.title): 3])
/// try context.upsert(Country.self, matching: ["code": "FR"], values: ["name": "France"])
/// ```
///
/// Where a request takes expressions of the predicate language, such as in the columns of rows, the
/// string may be one.
public struct PropertyPath: Sendable, Hashable, ExpressibleByStringInterpolation,
  CustomStringConvertible
{
  /// The names, separated by dots, or the text of an expression.
  public let keyPath: String
  /// Why a key path has no names.
  private let failure: RequestFailure?

  /// Creates a path from its names, or from the text of an expression.
  public init(_ keyPath: String) {
    self.keyPath = keyPath
    failure = nil
  }

  /// Creates a path from its names, or from the text of an expression.
  public init(stringLiteral keyPath: String) { self.init(keyPath) }

  /// Creates a path that names nothing. Every operation that uses it throws the error.
  package init(failing error: ArborError) {
    keyPath = ""
    failure = RequestFailure(error)
  }

  /// The names, or the text of the expression.
  public var description: String { keyPath }

  /// The text of the path.
  ///
  /// - Throws: ``ArborError`` `invalidPredicate` for a key path that isn't one of modelled properties.
  package func text() throws(ArborError) -> String {
    if let failure { throw failure.error }
    return keyPath
  }
}
