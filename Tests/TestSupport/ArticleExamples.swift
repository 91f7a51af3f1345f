internal import Foundation

/// The worked examples of an article: code blocks of hexadecimal bytes, each starting with a
/// `; name` line. Text after a bar is a remark.
package enum ArticleExamples {
  /// - Parameter article: The name of the article in the ArborData documentation catalog.
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
