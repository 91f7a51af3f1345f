import ArborJSON
import ArborModel
import Foundation

/// The text of a document: one JSON object, or in a file of lines one on each.
enum SeedText {
  /// The documents of a text, scanned.
  ///
  /// - Parameters:
  ///   - data: The text, which is copied; a caller that gives it away has it in memory once.
  ///   - isLines: Whether each line is a document; blank ones are none.
  static func roots(
    _ data: consuming Data, source: String, isLines: Bool, limits: JSONLimits,
    _ limit: ExchangeLimit
  ) throws(ArborError) -> [JSONNode] {
    guard isLines else {
      return [try JSONDocument(data, source: source, limits: limits, work: limit.work).root]
    }
    var reader = JSONItemReader(
      .data(data), named: source, layout: .lines, limits: limits, work: limit.work)
    var roots: [JSONNode] = []
    while let batch = try reader.next() { roots += batch.items }
    return roots
  }
}
