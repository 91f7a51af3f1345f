public import Foundation

extension JSONValue {
  /// Reads a document of RFC 8259.
  ///
  /// Strict: UTF-8 is checked, keys are unique in their object, surrogates come in pairs, and
  /// nothing but white space follows the value.
  ///
  /// - Parameters:
  ///   - data: The document in UTF-8.
  ///   - source: The file or URL it comes from; errors name it.
  ///   - limits: The size and depth beyond which a document is refused.
  /// - Throws: ``ArborError`` `malformedDocument` with line, column and path, or `limitExceeded`.
  /// - Complexity: Linear in the size of the document.
  public static func parse(
    _ data: Data, source: String? = nil, limits: JSONLimits = JSONLimits()
  ) throws(ArborError) -> JSONValue {
    try JSONDocument(data, source: source, limits: limits).root.value
  }

  /// Reads a document of RFC 8259 from a text.
  ///
  /// - Throws: ``ArborError`` `malformedDocument` with line, column and path, or `limitExceeded`.
  public static func parse(
    _ text: String, source: String? = nil, limits: JSONLimits = JSONLimits()
  ) throws(ArborError) -> JSONValue {
    try parse(Data(text.utf8), source: source, limits: limits)
  }
}
