public import ArborModel

/// An object that a full-text search of a ``ManagedObjectContext`` found.
public struct SearchHit<T: ManagedObject> {
  /// The object.
  public let object: T
  /// How well the object fits, above 0; the greater the better. It is comparable with that of other
  /// objects in the same search only.
  public let score: Double
  let text: SearchText
  let attributes: [String]
}

@available(*, unavailable, message: "A hit has an object of a context; pass its ID.")
extension SearchHit: Sendable {}

extension SearchHit {
  /// The part of an attribute's text that shows most of what was searched for; its beginning where
  /// nothing of that stands in it.
  ///
  /// ```swift
  /// let snippet = try hit.snippet(of: "body", words: 12)?.marked("<b>", "</b>")
  /// ```
  ///
  /// - Parameters:
  ///   - attribute: A string attribute, whether it is indexed or not.
  ///   - words: How many words the part has at most; 0 for the whole text.
  /// - Returns: nil where the object has no text there.
  /// - Throws: ``ArborError`` as ``ManagedObject/value(forKey:)``.
  public func snippet(of attribute: PropertyPath, words: Int = 20) throws(ArborError)
    -> SearchSnippet?
  {
    guard case .string(let text) = try object.value(forKey: attribute.text()) else { return nil }
    return SearchSnippet(of: text, self.text, words: words)
  }

  /// The part that shows most of what was searched for, of the text of whichever searched attribute
  /// has most of it.
  ///
  /// - Parameter words: How many words the part has at most; 0 for the whole text.
  /// - Returns: nil where the object has no text any more.
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
