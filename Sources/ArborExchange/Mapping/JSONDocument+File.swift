import ArborJSON
import ArborModel
import Foundation

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
