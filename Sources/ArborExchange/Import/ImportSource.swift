import ArborModel
import Foundation

/// The document that an import reads.
enum ImportSource {
  /// In memory.
  case data(Data)
  case file(URL)

  /// A value of JSON, as it is written on one line.
  static func value(_ json: JSONValue) -> ImportSource { .data(json.data()) }

  /// The document as one item.
  func document(_ options: ImportOptions) throws(ArborError) -> JSONDocument {
    switch self {
    case .data(let data): try JSONDocument(data, limits: options.limits)
    case .file(let url): try JSONDocument(contentsOf: url, limits: options.limits)
    }
  }

  /// The document as several items.
  func items(_ options: ImportOptions) throws(ArborError) -> JSONItemReader {
    switch self {
    case .data(let data): JSONItemReader(data, options)
    case .file(let url): try JSONItemReader(contentsOf: url, options)
    }
  }
}
