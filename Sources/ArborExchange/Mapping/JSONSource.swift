public import ArborJSON
import ArborModel
public import Foundation

/// The JSON that an import, a sync, a seed or a value model is read from.
///
/// ```swift
/// try context.importObjects(from: .file(url), as: Person.self)
/// try context.importObjects(from: .data(response), as: Person.self)
/// try context.importObject(from: ["code": "FR", "name": "France"], as: Country.self)
/// ```
///
/// A string literal is JSON text; the literals of lists and objects are values.
public struct JSONSource: Sendable {
  enum Content: Sendable {
    case value(JSONValue)
    case data(Data)
    case file(URL)
    /// A value that doesn't encode; reading reports it.
    case failure(ArborError)
  }

  let content: Content
  /// The path or URL for error locations; `nil` if the document has none.
  let name: String?

  private init(_ content: Content, named name: String? = nil) {
    self.content = content
    self.name = name
  }

  /// A JSON value. Lines and columns in errors are those of the value written on one line.
  public static func value(_ json: JSONValue) -> JSONSource { JSONSource(.value(json)) }

  /// A document in memory, in UTF-8.
  ///
  /// - Parameters:
  ///   - data: The document.
  ///   - name: The file or URL that it came from, which errors name.
  public static func data(_ data: Data, named name: String? = nil) -> JSONSource {
    JSONSource(.data(data), named: name)
  }

  /// A file. A seed also follows a URL of https or http.
  public static func file(_ url: URL) -> JSONSource {
    JSONSource(.file(url), named: url.isFileURL ? url.path : url.absoluteString)
  }

  /// A value that can be encoded; dates are written in ISO 8601.
  ///
  /// If it doesn't encode, the call that reads the source throws ``ArborError`` `invalidArgument`.
  public static func encoding(_ value: some Encodable) -> JSONSource {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    do {
      return .data(try encoder.encode(value))
    } catch {
      return JSONSource(
        .failure(
          ArborError(
            .invalidArgument,
            "The \(type(of: value)) cannot be encoded as JSON. See the underlying error."
          ).with(underlying: error)))
    }
  }
}

extension JSONSource: ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  /// A document from its text.
  public init(stringLiteral text: String) { self = .data(Data(text.utf8)) }

  /// A list.
  public init(arrayLiteral elements: JSONValue...) { self = .value(.array(elements)) }

  /// An object with the literal's order; keys must differ.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .value(.object(JSONObject(literal: elements)))
  }
}

// MARK: Reading

extension JSONSource {
  /// The whole document; a file is read.
  ///
  /// - Throws: ``ArborError`` `fileUnreadable`; `invalidArgument` for a value that didn't encode.
  func data() throws(ArborError) -> Data {
    switch content {
    case .value(let json): return json.data()
    case .data(let data): return data
    case .failure(let error): throw error
    case .file(let url):
      do {
        return try Data(contentsOf: url)
      } catch {
        throw ArborError(
          .fileUnreadable, "The file \(url.path) cannot be read. Check its name and permissions."
        ).with(underlying: error)
      }
    }
  }

  /// The whole document, scanned.
  ///
  /// - Throws: ``ArborError`` as ``data()``; `malformedDocument` and `limitExceeded`.
  func document(
    limits: JSONLimits = JSONLimits(), work: WorkLimit? = nil
  ) throws(ArborError) -> JSONDocument {
    try JSONDocument(try data(), source: name, limits: limits, work: work)
  }

  /// Returns line and column of a byte. Reads a file again, since imports don't keep documents.
  func location(of offset: Int) -> ArborError.SourceLocation? {
    let found =
      if case .file(let url) = content {
        try? Data(contentsOf: url, options: .mappedIfSafe)
      } else {
        try? data()
      }
    return found.map { JSONOrigin().location(of: offset, in: $0, source: name) }
  }
}
