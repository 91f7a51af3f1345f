public import ArborFoundation
public import ArborJSON
import ArborModel

/// The JSON source of an import, a sync, a seed or a value model.
///
/// ```swift
/// try context.importObjects(from: .file(url), as: Person.self)
/// try context.importObjects(from: .data(response), as: Person.self)
/// try context.importObject(from: ["code": "FR", "name": "France"], as: Country.self)
/// ```
///
/// A string literal is JSON text. List and dictionary literals are values.
public struct JSONSource: Sendable {
  enum Content: Sendable {
    case value(JSONValue)
    case data(Data)
    case file(URL)
    /// A value that could not be encoded. Reading throws the error.
    case failure(ArborError)
  }

  let content: Content
  /// The path or URL for error locations, or `nil` if the document has none.
  let name: String?

  private init(_ content: Content, named name: String? = nil) {
    self.content = content
    self.name = name
  }

  /// Creates a source from a JSON value. Error locations refer to the value's JSON text on a single
  /// line.
  public static func value(_ json: JSONValue) -> JSONSource { JSONSource(.value(json)) }

  /// Creates a source from a UTF-8 document in memory.
  ///
  /// - Parameters:
  ///   - data: The document.
  ///   - name: The file or URL it came from, for error locations.
  public static func data(_ data: Data, named name: String? = nil) -> JSONSource {
    JSONSource(.data(data), named: name)
  }

  /// Creates a source from a file. A seed also accepts an HTTP or HTTPS URL.
  public static func file(_ url: URL) -> JSONSource {
    JSONSource(.file(url), named: url.isFileURL ? url.path : url.absoluteString)
  }

  /// Creates a source from an encodable value. Dates are encoded in ISO 8601.
  ///
  /// If it cannot be encoded, reading the source throws ``ArborError`` `invalidArgument`.
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
            "The value of type \(type(of: value)) cannot be encoded as JSON. See the underlying "
              + "error."
          ).with(underlying: error)))
    }
  }
}

extension JSONSource: ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  /// Creates a source from JSON text.
  public init(stringLiteral text: String) { self = .data(Data(text.utf8)) }

  /// Creates a source from a JSON array.
  public init(arrayLiteral elements: JSONValue...) { self = .value(.array(elements)) }

  /// Creates a source from a JSON object with its members in the literal's order. Keys must be
  /// distinct.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .value(.object(JSONObject(literal: elements)))
  }
}

// MARK: Reading

extension JSONSource {
  /// Returns the whole document. Reads the file if the source is one.
  ///
  /// - Throws: ``ArborError`` `fileUnreadable`; `invalidArgument` if a value could not be encoded.
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

  /// Returns the parsed document.
  ///
  /// - Throws: The same errors as ``data()``; `malformedDocument` and `limitExceeded`.
  func document(
    limits: JSONLimits = JSONLimits(), work: WorkLimit? = nil
  ) throws(ArborError) -> JSONDocument {
    try JSONDocument(try data(), source: name, limits: limits, work: work)
  }

  /// Returns the line and column of a byte, or `nil` if the source cannot be read. Reads a file
  /// again, because imports don't keep documents in memory.
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
