import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

@Suite struct ManagedObjectContextSearchingTests {
  private func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      EntityDescription("Text", isAbstract: true) {
        AttributeDescription("title", .string, .default(""))
        FetchIndexDescription(text: "title", name: "titles")
      }
      EntityDescription("Article", parent: "Text") {
        AttributeDescription("body", .string, .optional)
        AttributeDescription("year", .integer16, .default(0))
        FetchIndexDescription(text: "title", "body", name: "words")
        FetchIndexDescription(text: "body", name: "recent", where: "year > 2000")
      }
      EntityDescription("Note", parent: "Text")
      EntityDescription("Plain") { AttributeDescription("title", .string, .default("")) }
    }
  }

  @discardableResult
  private func article(
    _ title: String, _ body: String?, _ year: Int = 2020, in context: ManagedObjectContext
  ) throws -> ManagedObject {
    let article = try context.insert("Article")
    article["title"] = title
    article["body"] = body
    article["year"] = year
    return article
  }

  private func use(_ body: (ManagedObjectContext) throws -> Void) throws {
    try ObjectStore.use(model()) { store in
      let context = store.makeContext()
      try article("The red fox", "A fox lives in the den. The fox is red.", in: context)
      try article("Foxes", "Foxglove is a flower.", 1999, in: context)
      try article("Café au lait", "The den of cafés: red, RED, rèd.", 1990, in: context)
      try article("Nothing", nil, in: context)
      try article("Red den", "A fox-red den", in: context)
      let note = try context.insert("Note")
      note["title"] = "red note"
      try context.commit()
      try body(context)
    }
  }

  private func titles(_ hits: [SearchHit<ManagedObject>]) -> [String] {
    hits.map {
      if case .string(let title)? = try? $0.object.value(forKey: "title") { title } else { "" }
    }
  }

  @Test(
    "A search finds words, prefixes and phrases",
    arguments: [
      ("fox", ["Red den", "The red fox"]), ("fox*", ["Foxes", "Red den", "The red fox"]),
      ("lives red", ["The red fox"]), ("cafe", ["Café au lait"]), ("\"red fox\"", ["The red fox"]),
      ("\"fox red\"", ["Red den"]), ("fox-red", ["Red den"]), ("\"fox r*\"", ["Red den"]),
      ("red -fox", ["Café au lait"]), ("red -\"red fox\"", ["Café au lait", "Red den"]),
      ("nothing here", []), ("", []), ("-red", []), ("zebra", []),
      // A phrase doesn't extend from one attribute to the next.
      ("\"fox a\"", []), ("nothing", ["Nothing"]),
    ] as [(String, [String])])
  func findsByWordsPrefixesAndPhrases(text: String, expected: [String]) throws {
    try use { (context) throws in
      let hits = try context.search("Article", text, in: "words")
      #expect(titles(hits).sorted() == expected)
      #expect(hits.allSatisfy { $0.score > 0 })
      #expect(zip(hits, hits.dropFirst()).allSatisfy { $0.score >= $1.score })
    }
  }

  @Test("Search results are ordered by relevance")
  func theBestComeFirst() throws {
    try ObjectStore.use(model()) { store in
      let context = store.makeContext()
      try article("long", "fox " + (0..<60).map { "w\($0)" }.joined(separator: " "), in: context)
      try article("often", "fox fox fox den", in: context)
      try article("once", "fox den tree sea", in: context)
      for index in 0..<20 { try article("other", "common w\(index)", in: context) }
      try article("rare", "common fox", in: context)
      try article("both", "common", in: context)
      try context.commit()
      #expect(try titles(context.search("Article", "fox", in: "words")).first == "often")
      #expect(try titles(context.search("Article", "fox", in: "words")).last == "long")
      let weighted = try context.search("Article", "rare fox", in: "words", weights: ["title": 0])
      #expect(titles(weighted) == ["rare"])
      let all = try context.search("Article", "fox", in: "words", limit: 0)
      for (limit, offset) in [(1, 0), (2, 1), (3, 3), (0, 2)] {
        let part = try context.search("Article", "fox", in: "words", limit: limit, offset: offset)
        let expected = all.dropFirst(offset).prefix(limit == 0 ? .max : limit)
        #expect(part.map(\.object) == expected.map(\.object))
        #expect(part.map(\.score) == expected.map(\.score))
      }
    }
  }

  @Test("Scores of random texts match the BM25 formula")
  func scoresAreThoseOfBM25() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SeededRandom(seed: seed)
    try ObjectStore.use(model()) { store in
      let context = store.makeContext()
      let words = ["fox", "den", "red", "a", "tree", "sea"]
      var texts: [ObjectID: [[String]]] = [:]
      for _ in 0..<40 {
        let parts = (0..<2).map { _ in
          (0..<Int.random(in: 0...8, using: &random)).map { _ in
            words.randomElement(using: &random) ?? ""
          }
        }
        let object = try article(
          parts[0].joined(separator: " "), parts[1].joined(separator: ", "), in: context)
        texts[object.objectID] = parts
      }
      try context.commit()
      let lengths = texts.mapValues { Double($0.map { Set($0).count }.reduce(0, +)) }
      let average = lengths.values.reduce(0, +) / Double(texts.count)
      for query in [["fox"], ["fox", "red"], ["a", "sea", "den"]] {
        let weights: [PropertyPath: Double] = ["title": 2.0, "body": 0.5]
        let hits = try context.search(
          "Article", query.joined(separator: " "), in: "words", weights: weights, limit: 0)
        let expected = texts.filter { $0.value.flatMap(\.self).isSuperset(of: query) }
        #expect(Set(hits.map(\.object.objectID)) == Set(expected.keys), "seed \(seed)")
        for hit in hits {
          let parts = texts[hit.object.objectID] ?? []
          var score = 0.0
          for word in query {
            let count = Double(texts.values.count { $0.flatMap(\.self).contains(word) })
            let weight = log(1 + (Double(texts.count) - count + 0.5) / (count + 0.5))
            let frequency = zip(parts, [2.0, 0.5]).reduce(0.0) { sum, part in
              sum + Double(part.0.count { $0 == word }) * part.1
            }
            let norm = 0.25 + 0.75 * (lengths[hit.object.objectID] ?? 0) / average
            score += weight * frequency * 2.2 / (frequency + 1.2 * norm)
          }
          #expect(abs(hit.score - score) < 1e-9, "\(query), seed \(seed)")
        }
      }
    }
  }

  @Test("A search includes pending changes")
  func pendingChangesAreSearchedToo() throws {
    try use { (context) throws in
      let fox = try #require(try context.search("Article", "lives", in: "words").first).object
      fox["body"] = "It sleeps."
      let new = try article("New", "It lives.", in: context)
      context.delete(try #require(try context.search("Article", "lait", in: "words").first).object)
      func check() throws {
        #expect(try context.search("Article", "lives", in: "words").map(\.object) == [new])
        #expect(try context.search("Article", "sleep*", in: "words").map(\.object) == [fox])
        #expect(try context.search("Article", "lait", in: "words").isEmpty)
      }
      try check()
      try context.commit()
      try check()
    }
  }

  @Test("Conditions and partial indexes restrict a search")
  func conditionsAndPartialIndexesNarrow() throws {
    try use { (context) throws in
      let hits = try context.search("Article", "red", in: "words", matching: "year < 2000")
      #expect(titles(hits) == ["Café au lait"])
      #expect(
        try titles(context.search("Article", "red", in: "recent")).sorted() == [
          "Red den", "The red fox",
        ])
      try article("old", "red", 1950, in: context)
      #expect(try context.search("Article", "red", in: "recent").count == 2)
    }
  }

  @Test("A search includes subentities")
  func subentitiesAreSearched() throws {
    try use { (context) throws in
      let hits = try context.search("Text", "red")
      #expect(titles(hits).sorted() == ["Red den", "The red fox", "red note"])
      #expect(try titles(context.search("Note", "red")) == ["red note"])
      #expect(
        try titles(context.search("Article", "red", in: "titles")).sorted() == [
          "Red den", "The red fox",
        ])
    }
  }

  @Test("A combined text index serves predicates on each of its attributes")
  func predicatesUseTheIndex() throws {
    try use { (context) throws in
      let query = context.objects("Article").filter("body TOKENMATCHES 'den fox'")
      #expect(try query.count() == 2 && "\(query.explain())".contains("words.body"))
    }
  }

  @Test("A snippet shows the words that were found")
  func snippetsShowWhatWasFound() throws {
    try use { (context) throws in
      let hit = try #require(try context.search("Article", "lives den", in: "words").first)
      #expect(
        hit.snippet(words: 6)?.marked("[", "]") == "…fox [lives] in the [den]. The…")
      #expect(try hit.snippet(of: "title")?.marked("[", "]") == "The red fox")
      #expect(try hit.snippet(of: "year") == nil)
      #expect(try failure { _ = try hit.snippet(of: "tilte") }.code == .unknownName)
      let cafe = try #require(try context.search("Article", "cafe", in: "words").first)
      #expect(cafe.snippet()?.marked("<", ">") == "<Café> au lait")
    }
  }

  @Test("Invalid search arguments are reported")
  func mistakesAreNamed() throws {
    try use { (context) throws in
      func message(_ body: () throws -> Void) throws -> String { try failure(of: body).message }
      #expect(
        try message { _ = try context.search("Article", "x") }
          == "Article has several text indexes. Pass the name of one: recent, titles, words.")
      #expect(
        try message { _ = try context.search("Plain", "x") }
          == "Plain has no text index to search. Declare one, such as FetchIndexDescription(text: "
          + "\"title\", \"body\").")
      #expect(
        try message { _ = try context.search("Note", "x", in: "title") }
          == "Note has no text index \"title\"; it has titles. Did you mean titles?")
      #expect(
        try message {
          _ = try context.search("Article", "x", in: "words", weights: ["boddy": 1])
        } == "The index words has no attribute \"boddy\" to weight. It has title, body. Did you "
          + "mean body?")
      #expect(
        try message {
          _ = try context.search("Article", "x", in: "words", weights: ["body": -1])
        } == "The weight of body is -1.0. Use a number of at least 0.")
    }
  }
}

extension [String] {
  fileprivate func isSuperset(of words: [String]) -> Bool { words.allSatisfy(contains) }
}
