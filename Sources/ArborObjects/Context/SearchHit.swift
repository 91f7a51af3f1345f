public import ArborModel

/// A result of a full-text search of a ``ManagedObjectContext``.
public struct SearchHit<T: ManagedObject> {
  /// The object.
  public let object: T
  /// The relevance score, greater than 0. Higher is better. Comparable only within the same search.
  public let score: Double
  let text: SearchText
  let attributes: [String]
}

@available(*, unavailable, message: "A hit belongs to its context. Pass its object's objectID.")
extension SearchHit: Sendable {}

extension SearchHit {
  /// Returns the excerpt of an attribute's text with the most matches, or its beginning if there
  /// are none.
  ///
  /// ```swift
  /// let snippet = try hit.snippet(of: "body", words: 12)?.marked("<b>", "</b>")
  /// ```
  ///
  /// - Parameters:
  ///   - attribute: A string attribute. It doesn't have to be indexed.
  ///   - words: The maximum number of words, or 0 for the whole text.
  /// - Returns: The excerpt, or `nil` if the attribute has no text.
  /// - Throws: The same errors as ``ManagedObject/value(forKey:)``.
  public func snippet(of attribute: PropertyPath, words: Int = 20) throws(ArborError)
    -> SearchSnippet?
  {
    guard case .string(let text) = try object.value(forKey: attribute.text()) else { return nil }
    return SearchSnippet(of: text, self.text, words: words)
  }

  /// Returns the excerpt with the most matches, from the searched attribute with the most matches.
  ///
  /// - Parameter words: The maximum number of words, or 0 for the whole text.
  /// - Returns: The excerpt, or `nil` if the object no longer has any text.
  public func snippet(words: Int = 20) -> SearchSnippet? {
    let texts = attributes.compactMap { attribute -> String? in
      if case .string(let text) = object[attribute] as PropertyValue { text } else { nil }
    }
    let worths = texts.map { SearchSnippet.worth(of: $0, text) }
    guard var best = texts.indices.first else { return nil }
    for index in texts.indices where worths[index] > worths[best] { best = index }
    return SearchSnippet(of: texts[best], text, words: words)
  }
}
