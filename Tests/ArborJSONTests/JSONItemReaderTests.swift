import ArborJSON
import Foundation
import Testing

@Suite struct JSONItemReaderTests {
  /// The result of a reader, for comparison: each value with its location, and how reading ended.
  struct Outcome: Equatable {
    var places: [String] = []
    var values: [JSONValue] = []
    var error: String?
    var isList: Bool?

    mutating func add(_ item: JSONNode) {
      values.append(item.value)
      note(item)
    }

    private mutating func note(_ node: JSONNode) {
      places.append("\(node.kind) \(node.location) \(node.offset)")
      for element in node.elements ?? [] { note(element) }
      for member in node.members ?? [] {
        places.append("key \(member.keyNode.location)")
        note(member.value)
      }
    }

    mutating func end(_ error: any Error) {
      guard let error = error as? ArborError else { return }
      self.error = "\(error.code) \(error)"
    }
  }

  /// Reads a document in chunks of random sizes and batches of random sizes.
  static func pieces(
    of data: Data, _ layout: JSONItemReader.Layout, _ samples: inout JSONSamples
  ) -> Outcome {
    var rest = data
    let largest = 1 + samples.number(below: 40)
    var random = JSONSamples(seed: UInt64(samples.number(below: 1 << 30)))
    let source = JSONByteSource { _ in
      let count = 1 + random.number(below: largest)
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }
    return items(of: source, layout, upTo: 1 + samples.number(below: 4), total: data.count)
  }

  static func items(
    of source: JSONByteSource, _ layout: JSONItemReader.Layout, upTo maximum: Int, total: Int
  ) -> Outcome {
    var outcome = Outcome()
    var reader = JSONItemReader(source, named: "x.json", layout: layout, chunkSize: 16)
    do {
      var count = 0
      var position = 0
      while let batch = try reader.next(maximum) {
        #expect(batch.firstIndex == count && !batch.items.isEmpty && batch.items.count <= maximum)
        #expect(reader.position > position)
        for item in batch.items { outcome.add(item) }
        count += batch.items.count
        position = reader.position
      }
      #expect(reader.position == total)
    } catch {
      outcome.end(error)
    }
    outcome.isList = reader.isList
    return outcome
  }

  /// Reads the document as a whole. If that fails, the items before the error are unknown.
  static func whole(_ data: Data, under names: [String] = []) -> Outcome {
    var outcome = Outcome()
    do {
      let root = try JSONDocument(data, source: "x.json").root
      let value = root.descendant(names)
      outcome.isList = value.map { $0.kind == .array }
      for item in value?.elements ?? value.map({ [$0] }) ?? [] { outcome.add(item) }
    } catch {
      outcome.end(error)
    }
    return outcome
  }

  @Test("Documents are read the same wherever they are split")
  func readsTheSameWhereverADocumentIsCut() {
    let seed = UInt64.random(in: .min ... .max)
    var samples = JSONSamples(seed: seed)
    for _ in 0..<1_500 {
      let text = samples.space() + (samples.number(below: 5) > 0 ? samples.list() : samples.value())
      let data = samples.damaged(text + samples.space())
      let whole = Self.whole(data)
      var pieces = Self.pieces(of: data, .document, &samples)
      if whole.error != nil { pieces = Outcome(error: pieces.error) }
      #expect(pieces == whole, "seed \(seed): \(String(decoding: data, as: UTF8.self))")
    }
  }

  @Test("The list under a key is read as in the whole document")
  func readsTheListUnderAKeyAsTheWholeDocumentHasIt() {
    let seed = UInt64.random(in: .min ... .max)
    var samples = JSONSamples(seed: seed)
    for _ in 0..<1_500 {
      let value = samples.number(below: 4) > 0 ? samples.list() : samples.value()
      let member = samples.number(below: 6) > 0 ? ("seeds", value) : nil
      let data = samples.damaged(samples.object(with: member) + samples.space())
      let whole = Self.whole(data, under: ["seeds"])
      var pieces = Self.pieces(of: data, .member("seeds"), &samples)
      if pieces.error?.contains("The document is not an object") == true { continue }
      if whole.error != nil { pieces = Outcome(error: pieces.error) }
      #expect(pieces == whole, "seed \(seed): \(String(decoding: data, as: UTF8.self))")
    }
  }

  @Test("The list at the end of a path is read the same wherever the document is split")
  func readsTheListAtTheEndOfAPathWhereverTheDocumentIsCut() {
    let seed = UInt64.random(in: .min ... .max)
    var samples = JSONSamples(seed: seed)
    for _ in 0..<1_500 {
      let value = samples.number(below: 4) > 0 ? samples.list() : samples.value()
      let inner = samples.object(with: samples.number(below: 6) > 0 ? ("seeds", value) : nil)
      let isInList = samples.number(below: 3) == 0
      let middle = isInList ? "[\(samples.value()),\(inner),1]" : inner
      let data = samples.damaged(samples.object(with: ("data", middle)) + samples.space())
      let names = isInList ? ["data", "1", "seeds"] : ["data", "seeds"]
      let whole = Self.whole(data, under: names)
      let path = JSONMemberPath(names.joined(separator: "."))
      var pieces = Self.pieces(of: data, .member(path), &samples)
      if pieces.error?.contains("The document is not an object") == true { continue }
      if whole.error != nil { pieces = Outcome(error: pieces.error) }
      #expect(pieces == whole, "seed \(seed): \(String(decoding: data, as: UTF8.self))")
    }
  }

  @Test("A key that equals the whole path takes precedence over nested keys")
  func aKeyThatIsWrittenLikeAPathWins() throws {
    func items(_ text: String, _ path: JSONMemberPath) -> [JSONValue]? {
      let data = Data(text.utf8)
      let read = Self.items(of: .data(data), .member(path), upTo: 9, total: data.count)
      return read.error == nil ? read.values : nil
    }
    #expect(items(#"{"a.b": [1], "a": {"b": [2]}}"#, "a.b") == [1])
    #expect(items(#"{"a": {"b": [2]}}"#, "a.b") == [2])
    #expect(items(#"{"a": {"b": [2]}, "a.b": [1]}"#, #"a\.b"#) == [1])
    // The result must not depend on the order of the two, so this is an error.
    #expect(items(#"{"a": {"b": [2]}, "a.b": [1]}"#, "a.b") == nil)
    #expect(items(#"[{"b": [1]}, {"b": [2]}]"#, "1.b") == [2])
    #expect(items(#"{"a": {"b": 5}}"#, "a.b") == [5])
    #expect(items(#"{"a": 5, "c": [1]}"#, "a.b") == [])
  }

  @Test("Each line is a document of its own")
  func readsLinesAsDocumentsOfTheirOwn() throws {
    let seed = UInt64.random(in: .min ... .max)
    var samples = JSONSamples(seed: seed)
    for _ in 0..<1_000 {
      var text = ""
      for _ in 0..<samples.number(below: 6) {
        let line = samples.space() + samples.value(depth: 1) + samples.space()
        text += line.replacing("\n", with: " ") + (samples.number(below: 3) > 0 ? "\n" : "\r\n")
      }
      let data = samples.damaged(text)
      // Behind the line breaks that stand for the lines before it, a NUL looks like UTF-16.
      if data.contains(0) { continue }
      var whole = Outcome(isList: true)
      let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      for (number, line) in lines.enumerated() where whole.error == nil {
        guard line.contains(where: { ![0x20, 0x09, 0x0D].contains($0) }) else { continue }
        let before = Data(repeating: UInt8(ascii: "\n"), count: number)
        do { whole.add(try JSONDocument(before + line, source: "x.json").root) } catch {
          whole.end(error)
        }
      }
      let pieces = Self.pieces(of: data, .lines, &samples)
      // The items in the same batch as a faulty line are not returned.
      let given =
        whole.error == nil ? whole.values : Array(whole.values.prefix(pieces.values.count))
      #expect(pieces.values == given, "seed \(seed)")
      #expect(
        pieces.error == whole.error, "seed \(seed): \(String(decoding: data, as: UTF8.self))")
    }
  }

  @Test("Errors state the location in the whole document")
  func errorsSayThePlaceInTheWholeDocument() throws {
    let text =
      "[" + (0..<5_000).map { #"{"name":"é\#($0)","hired":true}"# }.joined(separator: ",\n")
    let source = JSONByteSource.data(Data((text + ",\n  {\"name\": nope}]").utf8))
    var reader = JSONItemReader(source, named: "big.json", chunkSize: 512)
    var count = 0
    let error = try #require(throws: ArborError.self) {
      while let batch = try reader.next(100) {
        count += batch.items.count
        let last = try #require(batch.items.first { _ in true })
        #expect(last.location.line == batch.firstIndex + 1)
      }
    }
    #expect(error.description.hasPrefix("big.json:5001:12 ($[5000].name): Expected a value."))
    #expect(count == 5_000)
    let again = try #require(throws: ArborError.self) { try reader.next() }
    #expect(again.description == error.description)
  }

  @Test("At most a chunk and an item are kept in memory")
  func keepsNoMoreThanAChunkAndAnItem() throws {
    let item = Data((String(repeating: #"{"name":"x"}"#, count: 1) + ",").utf8)
    var given = 0
    let source = JSONByteSource { _ in
      guard given < 200_000 else { return Data() }
      let isFirst = given == 0
      given += item.count * 20 + (isFirst ? 1 : 0)
      var chunk = isFirst ? Data("[".utf8) : Data()
      for _ in 0..<20 { chunk.append(item) }
      return chunk
    }
    var reader = JSONItemReader(source)
    let error = try #require(throws: ArborError.self) {
      while let batch = try reader.next(15) {
        #expect(batch.items.count <= 15)
        #expect(given - reader.position <= 2 * 20 * item.count)
      }
    }
    #expect(error.message == "Expected a value, but the document ends.")
  }

  @Test("The size limit applies to items, not to the document")
  func boundsTheSizeOfAnItemAndNotOfTheDocument() throws {
    var limits = JSONLimits()
    limits.maximumSize = 10
    let small = Data(
      "[\(Array(repeating: "\"12345678\"", count: 50).joined(separator: " , "))]".utf8)
    for chunkSize in [1, 7, 100, 10_000] {
      var reader = JSONItemReader(.data(small), limits: limits, chunkSize: chunkSize)
      var count = 0
      while let batch = try reader.next() { count += batch.items.count }
      #expect(count == 50)
      let large = Data("[1,\n \"123456789\"]".utf8)
      reader = JSONItemReader(.data(large), limits: limits, chunkSize: chunkSize)
      let error = try #require(throws: ArborError.self) { while try reader.next() != nil {} }
      #expect(error.code == .limitExceeded && error.location?.line == 2)
      #expect(error.location?.column == 2)
    }
  }

  @Test("Files are read, and the error names an unreadable one")
  func readsFilesAndSaysWhichItCannotRead() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json")
    defer { try? FileManager.default.removeItem(at: url) }
    try Data("[1,2,3]".utf8).write(to: url)
    var reader = JSONItemReader(try .file(url), named: url.lastPathComponent)
    #expect(reader.size == 7 && reader.isList == nil)
    let batch = try #require(try reader.next())
    #expect(batch.items.map { $0.number?.int64 } == [1, 2, 3])
    #expect(reader.isList == true)
    #expect(try reader.next() == nil)
    #expect(reader.position == 7)
    reader = JSONItemReader(try .file(URL(filePath: "/dev/null")), layout: .lines)
    let nothing = try reader.next()
    #expect(nothing == nil && reader.size == nil)
    let missing = url.appendingPathExtension("missing")
    let error = try #require(throws: ArborError.self) { try JSONByteSource.file(missing) }
    #expect(error.code == .fileUnreadable)
    struct Broken: Error {}
    reader = JSONItemReader(JSONByteSource { _ in throw Broken() })
    let broken = try #require(throws: ArborError.self) { try reader.next() }
    #expect(broken.code == .fileUnreadable && broken.underlying is Broken)
  }
}
