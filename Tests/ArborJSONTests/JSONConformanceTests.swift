import ArborJSON
import Foundation
import Testing

/// Published conformance cases, read as a whole and in pieces.
@Suite("Published conformance cases") struct JSONConformanceTests {
  struct Case: CustomStringConvertible, Sendable {
    let name: String
    let isRead: Bool
    let data: Data
    var description: String { name }
  }

  /// The cases in `json-conformance.txt`, whose header describes the format.
  static let cases: [Case] = {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Fixtures/json-conformance.txt")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
      let parts = line.split(separator: " ", maxSplits: 2)
      return Case(name: String(parts[1]), isRead: parts[0] == "+", data: bytes(of: parts[2]))
    }
  }()

  private static func bytes(of text: Substring) -> Data {
    var data = Data()
    for (number, part) in text.split(separator: "‹", omittingEmptySubsequences: false).enumerated()
    {
      guard number > 0, let end = part.firstIndex(of: "›") else {
        data.append(contentsOf: part.utf8)
        continue
      }
      let mark = part[..<end]
      if let times = mark.firstIndex(of: "×") {
        let count = Int(mark[mark.index(after: times)...]) ?? 0
        for _ in 0..<count { data.append(contentsOf: mark[..<times].utf8) }
      } else {
        data.append(contentsOf: mark.split(separator: " ").compactMap { UInt8($0, radix: 16) })
      }
      data.append(contentsOf: part[part.index(after: end)...].utf8)
    }
    return data
  }

  @Test("The corpus contains every published case")
  func everyCaseIsThere() {
    let kinds = Dictionary(grouping: Self.cases) { $0.name.prefix(2) }.mapValues(\.count)
    #expect(kinds == ["y_": 95, "n_": 188, "i_": 35])
    #expect(Set(Self.cases.map(\.name)).count == Self.cases.count)
    let deviating = Self.cases.filter {
      ($0.name.hasPrefix("y_") && !$0.isRead) || ($0.name.hasPrefix("n_") && $0.isRead)
    }
    #expect(deviating.allSatisfy { $0.name.hasPrefix("y_object_duplicated_key") })
  }

  @Test("Every case is read or refused as published, as a whole and in pieces", arguments: cases)
  func readsOrRefuses(_ sample: Case) {
    let whole = JSONItemReaderTests.whole(sample.data)
    #expect((whole.error == nil) == sample.isRead, "\(whole.error ?? "")")
    let sizes = sample.data.count < 1_000 ? [1, 2, 3, 5, 8, 13, .max] : [1_000]
    for size in sizes {
      var rest = sample.data
      let source = JSONByteSource { _ in
        defer { rest = rest.dropFirst(size) }
        return rest.prefix(size)
      }
      var pieces = JSONItemReaderTests.items(
        of: source, .document, upTo: 3, total: sample.data.count)
      if whole.error != nil { pieces = .init(error: pieces.error) }
      #expect(pieces == whole, "in chunks of \(size)")
    }
  }

  @Test("A value that was read is written and read back equal", arguments: cases.filter(\.isRead))
  func writesWhatItReads(_ sample: Case) throws {
    let value = try JSONValue.parse(sample.data)
    let written = value.data()
    let again = try JSONValue.parse(written)
    #expect(again == value && again.data() == written)
  }
}
