public import Foundation

/// One key of an order: a key path or an expression, and a direction.
///
/// ```swift
/// request.sortKeys = ["-age", .ascending("company.name", options: .caseInsensitive)]
/// request.sortKeys = [.descending(expression: "price * quantity")]
/// ```
public struct SortKey: Sendable, Hashable, ExpressibleByStringLiteral {
  /// How texts are ordered; other values are not concerned.
  public struct Options: OptionSet, Sendable, Hashable {
    /// The options as bits.
    public let rawValue: UInt8
    /// Makes options from bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Upper and lower case are one.
    public static let caseInsensitive = Options(rawValue: 1)
    /// Letters are one with and without diacritics.
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// The order of a locale: ``SortKey/locale``, or the one of the store.
    public static let localized = Options(rawValue: 4)
    /// Digits in texts are ordered as the numbers they write: `item 9` before `item 10`.
    public static let numeric = Options(rawValue: 8)
  }

  /// The names, separated by dots, that lead to an attribute or to a part of a composite; or the
  /// text of an expression, as in predicates.
  public var keyPath: String
  /// Whether lesser values come first. Nil is the least value.
  public var isAscending: Bool
  /// How texts are ordered.
  public var options: Options
  /// The locale of the option `localized`; nil for the one that the store was opened with.
  public var locale: Locale?
  /// Why the key orders by nothing; every fetch that uses it throws the reason.
  package private(set) var failure: RequestFailure?

  /// Makes a key.
  public init(
    _ keyPath: String, isAscending: Bool = true, options: Options = [], locale: Locale? = nil
  ) {
    self.keyPath = keyPath
    self.isAscending = isAscending
    self.options = options
    self.locale = locale
  }

  /// A key that orders by nothing: every fetch that uses it throws the reason.
  package init(failing error: ArborError) {
    self.init("")
    failure = RequestFailure(error)
  }

  /// Lesser values first.
  public static func ascending(_ keyPath: String, options: Options = []) -> SortKey {
    SortKey(keyPath, isAscending: true, options: options)
  }

  /// Greater values first.
  public static func descending(_ keyPath: String, options: Options = []) -> SortKey {
    SortKey(keyPath, isAscending: false, options: options)
  }

  /// A key path, descending behind a minus sign: `"name"`, `"-age"`.
  public init(stringLiteral text: String) {
    if text.hasPrefix("-") {
      self.init(String(text.dropFirst()), isAscending: false)
    } else {
      self.init(text.hasPrefix("+") ? String(text.dropFirst()) : text)
    }
  }

  /// The same key in the opposite direction.
  public var reversed: SortKey {
    var reversed = self
    reversed.isAscending.toggle()
    return reversed
  }

  /// The same key with texts in the order of a locale.
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

/// Why a part of a request says nothing, such as a key path that isn't one of properties; thrown by
/// every fetch with the request. Equal for equal messages, so that requests stay comparable.
package final class RequestFailure: Sendable, Hashable {
  package let error: ArborError

  package init(_ error: ArborError) { self.error = error }

  package static func == (left: RequestFailure, right: RequestFailure) -> Bool {
    left.error.message == right.error.message
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(error.message) }
}
