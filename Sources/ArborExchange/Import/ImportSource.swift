import ArborJSON
import ArborModel
import Foundation

/// The document that an import reads.
enum ImportSource {
  /// In memory, maybe a value of the program's as it is written on one line.
  case data(Data, isValue: Bool = false)
  case file(URL)

  static func value(_ json: JSONValue) -> ImportSource { .data(json.data(), isValue: true) }

  func document(
    _ options: ImportOptions, _ limit: ExchangeLimit
  ) throws(ArborError) -> JSONDocument {
    switch self {
    case .data(let data, _): try JSONDocument(data, limits: options.limits, work: limit.work)
    case .file(let url): try JSONDocument(contentsOf: url, limits: options.limits, work: limit.work)
    }
  }

  func items(_ options: ImportOptions, _ limit: ExchangeLimit) throws(ArborError) -> ImportItems {
    switch self {
    case .data(let data, let isValue):
      ImportItems(JSONItemReader(data, options, limit), options, isValue: isValue)
    case .file(let url): ImportItems(try JSONItemReader(contentsOf: url, options, limit), options)
    }
  }
}

extension JSONDocument {
  /// Reads a document from a file.
  ///
  /// - Throws: ``ArborError`` `fileUnreadable`, and as for a document in memory.
  convenience init(
    contentsOf url: URL, limits: JSONLimits, work: WorkLimit? = nil
  ) throws(ArborError) {
    let data: Data
    do {
      data = try Data(contentsOf: url)
    } catch {
      throw ArborError(
        .fileUnreadable, "The file \(url.path) cannot be read; check its name and permissions."
      ).with(underlying: error)
    }
    try self.init(data, source: url.path, limits: limits, work: work)
  }
}
