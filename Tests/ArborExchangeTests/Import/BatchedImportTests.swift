import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

/// Imports of files that are committed in batches.
@Suite struct BatchedImportTests {
  private func withFile<R>(_ text: String, _ body: (URL) async throws -> R) async throws -> R {
    let url = FileManager.default.temporaryDirectory.appending(path: "batches-\(UUID()).json")
    defer { try? FileManager.default.removeItem(at: url) }
    #expect(FileManager.default.createFile(atPath: url.path, contents: Data(text.utf8)))
    return try await body(url)
  }

  private func options(_ size: Int, _ layout: ImportLayout = .list) -> ImportOptions {
    var options = ImportOptions()
    options.batchSize = size
    options.layout = layout
    return options
  }

  /// Returns places of which each refers to the next as its parent, except for the last one.
  private func chain(_ count: Int, last: String = "") -> [String] {
    (0..<count).map { index in
      index == count - 1
        ? #"{"code": "P\#(index)"\#(last)}"#
        : #"{"code": "P\#(index)", "parent": "P\#(index + 1)"}"#
    }
  }

  @Test(
    "Each batch is a commit, and later batches satisfy earlier references",
    arguments: [1, 3, 7, 100])
  func everyBatchIsACommitAndLaterBatchesSatisfyEarlierReferences(size: Int) async throws {
    let workshop = try ImportWorkshop(ReferenceTests.places("{parent}"))
    let text = "[" + chain(20).joined(separator: ",\n") + "]"
    try await withFile(text) { url in
      var steps: [ImportStep] = []
      let progress = workshop.store.importObjects(
        from: .file(url), as: "Place", options: options(size))
      for try await step in progress { steps.append(step) }
      let last = try #require(steps.last)
      #expect(last.items == 20 && last.inserted == 20 && last.deleted == 0)
      #expect(last.bytesRead == text.utf8.count && last.totalBytes == text.utf8.count)
      #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.bytesRead <= $1.bytesRead })
      let linked = try workshop.all("Place").filter { try $0.object(forKey: "parent") != nil }
      #expect(linked.count == 19)
      // A second import reports no changes.
      let again = try await workshop.store.importObjects(
        from: .file(url), as: "Place", options: options(size)
      ).finish()
      #expect(again.inserted == 0 && again.updated == 0 && again.unchanged == 20)
    }
    try workshop.finish()
  }

  @Test("Items can be read from lines and from a member of an object")
  func linesAndMembersHoldItemsToo() async throws {
    let workshop = try ImportWorkshop(ReferenceTests.places("{parent}"))
    let lines = chain(5).joined(separator: "\n") + "\n\n"
    let done = try await withFile(lines) { url in
      try await workshop.store.importObjects(
        from: .file(url), as: "Place", options: options(2, .lines)
      ).finish()
    }
    #expect(done.inserted == 5)
    let member = #"{"note": [1], "3166-2": ["# + chain(5).joined(separator: ",") + "]}"
    let again = try await withFile(member) { url in
      try workshop.context.importObjects(
        from: .file(url), as: "Place", options: options(2, .member("3166-2")))
    }
    #expect(again.count == 5 && !workshop.context.hasChanges)
    try workshop.finish()
  }

  @Test("An error keeps the batches before it and reports its location")
  func anErrorLeavesTheBatchesBeforeItAndSaysWhere() async throws {
    let workshop = try ImportWorkshop(ReferenceTests.places("{parent}"))
    let items = [#"{"code": "A"}"#, #"{"code": "B"}"#, #"{"code": "C", "name": 5}"#]
    let error = await #expect(throws: ArborError.self) {
      try await withFile("[" + items.joined(separator: ",\n") + "]") { url in
        _ = try await workshop.store.importObjects(
          from: .file(url), as: "Place", options: options(2)
        ).finish()
      }
    }
    #expect(error?.location?.line == 3)
    #expect(error?.location?.path == "$[2].name")
    #expect(try workshop.values("Place", "code") == ["A", "B"])
    try workshop.finish()
  }

  @Test("A key that no batch contains is an error at its item")
  func aKeyThatNoBatchHasIsAnErrorAtItsItem() async throws {
    let workshop = try ImportWorkshop(ReferenceTests.places("{parent}"))
    let text = "[\n" + chain(6, last: #", "parent": "none""#).joined(separator: ",\n  ") + "]"
    let error = await #expect(throws: ArborError.self) {
      try await withFile(text) { url in
        _ = try await workshop.store.importObjects(
          from: .file(url), as: "Place", options: options(2)
        ).finish()
      }
    }
    #expect(error?.code == .objectNotFound)
    #expect(error?.location?.line == 7 && error?.location?.column == 28)
    #expect(try workshop.all("Place").count == 6)
    try workshop.finish()
  }

  @Test("A violation found by a commit is reported with its item and line", arguments: [1, 2, 10])
  func aViolationAtACommitHasItemAndLine(size: Int) async throws {
    var entities = ReferenceTests.places("{parent}")
    entities[0].attributes[1].isOptional = false
    let workshop = try ImportWorkshop(entities)
    let items = [
      #"{"code": "A", "name": "a", "parent": null}"#, #"{"code": "B"}"#,
      #"{"code": "C", "name": null}"#, #"{"code": "D", "name": "d"}"#,
    ]
    for (text, layout) in [
      ("[" + items.joined(separator: ",\n") + "]", ImportLayout.list),
      (items.joined(separator: "\n"), .lines),
    ] {
      let error = await #expect(throws: ArborError.self) {
        try await withFile(text) { url in
          _ = try await workshop.store.importObjects(
            from: .file(url), as: "Place", options: options(size, layout)
          ).finish()
        }
      }
      #expect(error?.code == .validation && error?.location?.line == 2)
      #expect(error?.location?.source?.hasSuffix(".json") == true)
      if case .list = layout { #expect(error?.location?.path == "$[1]") }
      if size == 10 {
        #expect(error?.violations.map { $0.location?.line } == [2, 3])
        // The location of the value, if the item has one.
        #expect(error?.violations.last?.location?.column == 23)
      }
      let first = try #require(error?.violations.first ?? error)
      #expect("\(first)".contains(".json:2:1"))
    }
    try workshop.finish()
  }

  @Test("An optional reference whose key no item contains causes only a warning")
  func anOptionalReferenceOfWhichNoItemHasAKeyIsFine() async throws {
    let workshop = try ImportWorkshop(ReferenceTests.places("{parent}"))
    let done = try await withFile("[{\"code\": \"A\"}, {\"code\": \"B\"}]") { url in
      try await workshop.store.importObjects(from: .file(url), as: "Place", options: options(1))
        .finish()
    }
    #expect(done.inserted == 2)
    #expect(
      done.findings.warnings
        == ["No item has “parent”, which the ImportReference of Place.parent reads."])
    try workshop.finish()
  }

  @Test("If no item has a key of a mandatory reference, the import fails at its end")
  func aMandatoryReferenceOfWhichNoItemHasAKeyIsAnErrorAtTheEnd() async throws {
    var places = ReferenceTests.places("{paren} | {kind}-{paren}", isToMany: true)
    places[0].relationships[0].isOptional = false
    let workshop = try ImportWorkshop(places)
    let error = await #expect(throws: ArborError.self) {
      try await withFile("[" + chain(5).joined(separator: ",\n") + "]") { url in
        _ = try await workshop.store.importObjects(
          from: .file(url), as: "Place", options: options(2)
        ).finish()
      }
    }
    #expect(
      error?.message
        == "The ImportReference of Place.parent reads “kind”, “paren”, which none of the 5 items "
        + "has. Use a key of the items, or remove the entry.")
    #expect(error?.entity == "Place" && error?.keyPath == "parent")
    #expect(error?.code == .invalidDocument && error?.location?.source?.hasSuffix(".json") == true)
    #expect(try workshop.all("Place").count == 5)
    // An import into a context doesn't import anything. One matching key is enough, and a lenient
    // import requires none.
    let text = Data(#"[{"code": "Q"}]"#.utf8)
    let inContext = try workshop.failure {
      try workshop.context.importObjects(from: .data(text), as: "Place")
    }
    #expect(
      inContext.message
        == "The ImportReference of Place.parent reads “kind”, “paren”, which the item doesn't "
        + "have. Use a key of the items, or remove the entry.")
    let one = Data(#"[{"code": "R"}, {"code": "S", "kind": null}]"#.utf8)
    #expect(try workshop.context.importObjects(from: .data(one), as: "Place").count == 2)
    var lenient = ImportOptions()
    lenient.lenient = true
    #expect(
      try workshop.context.importObjects(from: .data(text), as: "Place", options: lenient).count
        == 1)
    try workshop.finish()
  }

  @Test("A file that doesn't have the expected layout is rejected")
  func aFileOfAnotherShapeIsAnError() async throws {
    let workshop = try ImportWorkshop(ReferenceTests.places("{parent}"))
    for text in [#"{"A": {}, "B": {}}"#, "{\"code\": \"A\"}\n{\"code\": \"B\"}\n"] {
      let error = await #expect(throws: ArborError.self) {
        try await withFile(text) { url in
          _ = try await workshop.store.importObjects(from: .file(url), as: "Place").finish()
        }
      }
      #expect(error?.code == .invalidDocument)
      #expect(error?.message.contains("its items are read from a list. Use the layout .") == true)
    }
    let done = try await withFile(#"{"A": {"parent": "B"}, "B": {}}"#) { url in
      try await workshop.store.importObjects(
        from: .file(url), as: "Place", options: options(1, .values(key: "code"))
      ).finish()
    }
    #expect(done.items == 2 && done.inserted == 2)
    try workshop.finish()
  }

  @Test("A missing file and an unknown entity are reported")
  func aMissingFileAndAnUnknownEntityAreErrors() async throws {
    let workshop = try ImportWorkshop()
    let nowhere = URL(filePath: "/nowhere/at/all.json")
    let missing = await #expect(throws: ArborError.self) {
      try await workshop.store.importObjects(from: .file(nowhere), as: "Employee").finish()
    }
    #expect(missing?.code == .fileUnreadable)
    let unknown = await #expect(throws: ArborError.self) {
      try await withFile("[{}]") { url in
        _ = try await workshop.store.importObjects(from: .file(url), as: "Employe").finish()
      }
    }
    #expect(unknown?.code == .unknownName)
  }

  @Test("The work stops when its progress is no longer iterated over", .timeLimit(.minutes(40)))
  func workStopsWhenItsStepsAreGivenUp() async throws {
    let (stops, continuation) = AsyncStream.makeStream(of: Int.self)
    func takeOneStep() async throws {
      let progress = ImportProgress { report in
        var step = ImportStep()
        while report(step) {
          step.items += 1
          await Task.yield()
        }
        continuation.yield(step.items)
      }
      for try await _ in progress { break }
    }
    try await takeOneStep()
    // The progress would otherwise never end.
    var ends = stops.makeAsyncIterator()
    #expect(await ends.next() != nil)
  }
}
