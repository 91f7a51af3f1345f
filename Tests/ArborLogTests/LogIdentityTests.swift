import Foundation
import TestSupport
import Testing

@testable import ArborLog

/// The identity file matches the example in the article.
@Suite struct LogIdentityTests {
  @Test("The article shows the bytes of an identity file")
  func theArticleDrawsIt() throws {
    let identity = LogIdentity(log: LogExamples.log, store: LogExamples.store)
    let bytes = try LogExamples.expect("log", identity.encoded())
    #expect(try LogIdentity(bytes, path: "log") == identity)
  }
}

/// The worked examples in the article on the files of a log.
enum LogExamples {
  static let log = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF") ?? UUID()
  static let store = UUID(uuidString: "100F0E0D-0C0B-0A09-0807-060504030201") ?? UUID()
  static let date = Date(timeIntervalSinceReferenceDate: 800_000_000)
  static let counters: [String: UInt64] = ["object/2": 65]

  /// Compares bytes with an example of the article.
  ///
  /// - Returns: The bytes in the article.
  @discardableResult
  static func expect(_ name: String, _ bytes: [UInt8]) throws -> [UInt8] {
    let told = try #require(ArticleExamples.of("LogFormat")[name])
    let digits = bytes.map { (String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)) }
    #expect(told == bytes, "\(name): \(digits.joined(separator: " ").uppercased())")
    return told
  }
}
