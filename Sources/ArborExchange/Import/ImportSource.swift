import ArborJSON
import ArborModel
import Foundation

/// The document that an import reads.
enum ImportSource {
  /// A value of JSON, as it is written on one line.
  case value(JSONValue)
  /// In memory.
  case data(Data)
  case file(URL)

  /// The document as one item.
  func document(
    _ options: ImportOptions, _ limit: ExchangeLimit
  ) throws(ArborError) -> JSONDocument {
    switch self {
    case .value(let json):
      try JSONDocument(json.data(), limits: options.limits, work: limit.work)
    case .data(let data): try JSONDocument(data, limits: options.limits, work: limit.work)
    case .file(let url):
      try JSONDocument(contentsOf: url, limits: options.limits, work: limit.work)
    }
  }

  /// The document as several items.
  func items(
    _ options: ImportOptions, _ limit: ExchangeLimit
  ) throws(ArborError) -> ImportItems {
    switch self {
    case .value(let json):
      ImportItems(JSONItemReader(json.data(), options, limit), options, isValue: true)
    case .data(let data): ImportItems(JSONItemReader(data, options, limit), options)
    case .file(let url): ImportItems(try JSONItemReader(contentsOf: url, options, limit), options)
    }
  }
}
