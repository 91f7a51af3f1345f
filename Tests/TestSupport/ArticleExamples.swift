internal import Foundation

/// The worked examples of an article: blocks of bytes that begin with `; name`. What stands behind
/// a bar is prose.
package enum ArticleExamples {
  /// - Parameter article: The name of an article of the catalogue.
  package static func of(_ article: String) throws -> [String: [UInt8]] {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/ArborData/ArborData.docc/\(article).md")
    var examples: [String: [UInt8]] = [:]
    var name: String?
    for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
      if line.hasPrefix("; ") {
        name = String(line.dropFirst(2))
      } else if line.hasPrefix("```") {
        name = nil
      } else if let name {
        let digits = line.prefix { $0 != "|" }.split(separator: " ")
        examples[name, default: []] += digits.compactMap { UInt8($0, radix: 16) }
      }
    }
    return examples
  }
}
