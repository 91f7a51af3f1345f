public import ArborFoundation

/// A sort key: a key path or an expression, and a direction.
///
/// ```swift
/// request.sortKeys = ["-age", .ascending("company.name", options: .caseInsensitive)]
/// request.sortKeys = [.descending(expression: "price * quantity")]
/// ```
public struct SortKey: Sendable, Hashable, ExpressibleByStringLiteral {
  /// Options for comparing strings. They don't affect other values.
  public struct Options: OptionSet, Sendable, Hashable {
    /// The raw bits.
    public let rawValue: UInt8
    /// Creates options from raw bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Ignores case.
    public static let caseInsensitive = Options(rawValue: 1)
    /// Ignores diacritics.
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// Uses the collation of a locale: ``SortKey/locale``, or that of the store.
    public static let localized = Options(rawValue: 4)
    /// Compares digits in strings as numbers: `item 9` sorts before `item 10`.
    public static let numeric = Options(rawValue: 8)
  }

  /// The dot-separated path to an attribute or to a part of a composite, or the text of an
  /// expression in the predicate language.
  public var keyPath: String
  /// A Boolean value that indicates whether the order is ascending. `nil` is the least value.
  public var isAscending: Bool
  /// The options for comparing strings.
  public var options: Options
  /// The locale for the option `localized`, or `nil` for that of the store.
  public var locale: Locale?
  /// The reason the key is invalid, or `nil` if it is valid. Every fetch that uses the key throws
  /// this error.
  package private(set) var failure: RequestFailure?

  /// Creates a sort key.
  public init(
    _ keyPath: String, isAscending: Bool = true, options: Options = [], locale: Locale? = nil
  ) {
    self.keyPath = keyPath
    self.isAscending = isAscending
    self.options = options
    self.locale = locale
  }

  /// Creates an invalid key. Every fetch that uses it throws the error.
  package init(failing error: ArborError) {
    self.init("")
    failure = RequestFailure(error)
  }

  /// Returns an ascending key.
  public static func ascending(_ keyPath: String, options: Options = []) -> SortKey {
    SortKey(keyPath, isAscending: true, options: options)
  }

  /// Returns a descending key.
  public static func descending(_ keyPath: String, options: Options = []) -> SortKey {
    SortKey(keyPath, isAscending: false, options: options)
  }

  /// Creates a key from a key path, descending if it has a leading minus sign: `"name"`, `"-age"`.
  public init(stringLiteral text: String) {
    if text.hasPrefix("-") {
      self.init(String(text.dropFirst()), isAscending: false)
    } else {
      self.init(text.hasPrefix("+") ? String(text.dropFirst()) : text)
    }
  }

  /// The same key with the opposite direction.
  public var reversed: SortKey {
    var reversed = self
    reversed.isAscending.toggle()
    return reversed
  }

  /// Returns the same key, with strings compared by the collation of a locale.
  ///
  /// ```swift
  /// request.sortKeys = [.ascending("name").localized(Locale(identifier: "sv"))]
  /// ```
  public func localized(_ locale: Locale) -> SortKey {
    var key = self
    key.options.insert(.localized)
    key.locale = locale
    return key
  }
}

extension SortKey {
  /// Returns whether two keys are the same. Texts of expressions are compared by code point, like
  /// the strings in them.
  public static func == (left: Self, right: Self) -> Bool {
    StoredText(left.keyPath) == StoredText(right.keyPath) && left.isAscending == right.isAscending
      && left.options == right.options && left.locale == right.locale
      && left.failure == right.failure
  }

  /// Hashes the key.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(StoredText(keyPath))
    hasher.combine(isAscending)
    hasher.combine(options)
    hasher.combine(locale)
    hasher.combine(failure)
  }
}

extension SortKey: CustomStringConvertible {
  /// The path or expression, the direction if it is descending, and the options:
  /// `company.name descending, ignoring case`. An invalid key is described by its error.
  public var description: String {
    if let failure { return "invalid sort key: \(failure.error.message)" }
    var parts = [isAscending ? keyPath : "\(keyPath) descending"]
    if options.contains(.caseInsensitive) { parts.append("ignoring case") }
    if options.contains(.diacriticInsensitive) { parts.append("ignoring diacritics") }
    if options.contains(.localized) {
      parts.append(locale.map { "localized for \($0.identifier)" } ?? "localized")
    }
    if options.contains(.numeric) { parts.append("numeric") }
    return parts.joined(separator: ", ")
  }
}

/// The error for an invalid part of a request, such as an unsuitable key path. Every fetch with the
/// request throws it. Equality is based on the message, so that requests remain comparable.
package final class RequestFailure: Sendable, Hashable {
  package let error: ArborError

  package init(_ error: ArborError) { self.error = error }

  package static func == (left: RequestFailure, right: RequestFailure) -> Bool {
    left.error.message == right.error.message
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(error.message) }
}
