import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

private enum Kind: String, Codable, CaseIterable { case small, large }

private struct Extent: Codable, Equatable {
  var height = 0
  var width: Double?
}

private struct Label: Codable, Equatable {
  var text = ""
  var note: String?
  var weight = 0.0
  var share: Float = 0
  var price = Decimal(0)
  var isNew = false
  var kind = Kind.small
  var made = Date(timeIntervalSinceReferenceDate: 0)
  var id = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  var size = Extent()
  var tags: [String] = []
  var count = 0

  enum CodingKeys: String, CodingKey {
    case text, note, weight, share, price, isNew, kind, made, id, size, tags
    case count = "number"
  }
}

private struct Mark: Codable, AttributeValue { var sign = "" }

private final class Box: ManagedObject {
  override class var entityDescription: EntityDescription {
    EntityDescription(
      name: "Box", className: "Box",
      attributes: [
        AttributeDescription("label", Label.self), AttributeDescription("spare", Label?.self),
        AttributeDescription("mark", Mark?.self), AttributeDescription("photo", Data?.self),
        AttributeDescription("far", Label?.self),
      ],
      relationships: [
        RelationshipDescription(
          name: "inner", destination: "Box", inverse: "outer", isToMany: true),
        RelationshipDescription(name: "outer", destination: "Box", inverse: "inner"),
      ])
  }
  var label: Label {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var spare: Label? {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var mark: Mark? {
    get { _attribute(2) }
    set { _setAttribute(2, newValue) }
  }
  var far: Label? {
    get { _attribute(4) }
    set { _setAttribute(4, newValue) }
  }
  var outer: Box? {
    get { _toOne(1) }
    set { _setToOne(1, newValue) }
  }
}

/// Key paths into the JSON of codable values, through every access path.
@Suite("Key paths into codable values") struct CodableAttributesTests {
  private func use(_ count: Int = 4, _ body: (ManagedObjectContext, [Box]) throws -> Void) throws {
    try ObjectStore.use(ManagedObjectModel(for: [Box.self]), classes: [Box.self]) { store in
      let context = store.makeContext()
      let boxes = (0..<count).map { index in
        let box = context.insert(Box.self)
        box.label = Label(
          text: "t\"\(index % 3)", note: index == 1 ? "é" : nil, weight: Double(index) / 2,
          share: Float(index) / 10, price: Decimal(index) / 10, isNew: index == 0,
          kind: index > 1 ? .large : .small,
          made: Date(timeIntervalSinceReferenceDate: Double(index)),
          id: UUID(uuid: (UInt8(index), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
          size: Extent(height: index, width: index == 2 ? 1.5 : nil), count: index)
        box.spare = index == 2 ? Label(text: "spare", weight: 9) : nil
        box.mark = Mark(sign: "m\(index)")
        box.far = Label(text: String(repeating: "x", count: 20_000), count: index)
        return box
      }
      for box in boxes.dropFirst() { box.outer = boxes[0] }
      try context.commit()
      try body(context, boxes)
    }
  }

  @Test(
    "Textual predicates can read parts of codable values",
    arguments: [
      (#"label.text == "t\"1""#, [1]), ("label.text CONTAINS 't'", [0, 1, 2, 3]),
      ("label.note == nil", [0, 2, 3]), ("label.note ==[d] 'e'", [1]),
      ("label.weight > 0.5", [2, 3]),
      ("label.isNew == TRUE", [0]), ("label.kind == 'large'", [2, 3]),
      ("label.number IN {1, 3}", [1, 3]),
      ("label.price == 0.3", [3]),
      ("label.made BETWEEN {CAST(1, 'NSDate'), CAST(2, 'NSDate')}", [1, 2]),
      ("label.size.height >= 2", [2, 3]), ("label.size.width != nil", [2]),
      ("label.size != nil", [0, 1, 2, 3]),
      ("spare.weight == 9", [2]), ("spare.size == nil", [0, 1, 3]), ("mark.sign == 'm2'", [2]),
      ("far.number == 3", [3]), ("outer.label.number == 0", [1, 2, 3]),
      ("ANY inner.label.number == 3", [0]), ("inner.label.number.@sum == 6", [0]),
      ("SUBQUERY(inner, $b, $b.label.number > 1).@count == 2", [0]),
      ("label.text == spare.text", []), ("label.weight == label.number", [0]),
      ("label.id == CAST('02000000-0000-0000-0000-000000000000', 'NSUUID')", [2]),
    ] as [(String, [Int])])
  func textsLookIntoCodableValues(_ text: String, _ expected: [Int]) throws {
    try use { (context, boxes) throws in
      #expect(
        Set(try context.objects(Box.self).filter(FetchPredicate(format: text)).fetch())
          == Set(expected.map { boxes[$0] }))
    }
  }

  @Test("Typed predicates can read parts of codable values")
  func typedPredicatesLookIntoCodableValues() throws {
    try use { (context, boxes) throws in
      let day = Date(timeIntervalSinceReferenceDate: 1)
      let large = Kind.large
      let id = boxes[1].label.id
      let cases: [(Predicate<Box>, [Int])] = [
        (#Predicate { $0.label.text == "t\"1" }, [1]),
        (#Predicate { $0.label.weight > 0.5 && $0.label.isNew == false }, [2, 3]),
        (#Predicate { $0.label.text.contains("t") && $0.label.count < 1 }, [0]),
        (#Predicate { $0.label.made > day }, [2, 3]),
        (#Predicate { $0.label.kind == large }, [2, 3]),
        (#Predicate { $0.label.size.height == 3 }, [3]), (#Predicate { $0.label.id == id }, [1]),
        (#Predicate { $0.label.share == 0.3 }, [3]), (#Predicate { $0.label.isNew }, [0]),
        (#Predicate { $0.mark?.sign == "m2" }, [2]), (#Predicate { $0.spare?.weight == 9 }, [2]),
        (#Predicate { ($0.label.size.width ?? 7) > 6 }, [0, 1, 3]),
        (#Predicate { $0.label.note != nil }, [1]),
        (#Predicate { $0.outer?.label.count == 0 }, [1, 2, 3]),
      ]
      for (index, (predicate, expected)) in cases.enumerated() {
        let found = try context.fetch(Box.self, matching: FetchPredicate(predicate))
        #expect(Set(found) == Set(expected.map { boxes[$0] }), "case \(index)")
      }
    }
  }

  @Test("Orders, aggregates and rows can read parts of codable values")
  func ordersFiguresAndRowsLookIntoCodableValues() throws {
    try use { (context, boxes) throws in
      let query = context.objects(Box.self)
      #expect(try query.order(by: "-label.weight").fetch() == boxes.reversed())
      #expect(try query.order(by: "-label.text", "label.number").first() == boxes[2])
      #expect(
        try query.order(by: SortKey(\Box.label.size.height, .descending)).fetch()
          == boxes.reversed())
      #expect(SortKey(\Box.label.count).keyPath == "label.number")
      #expect(SortKey(\Box.spare?.text).keyPath == "spare.text")
      #expect(SortKey(\Box.mark?.sign).keyPath == "mark.sign")
      #expect(SortKey(\Box.outer?.label.kind).keyPath == "outer.label.kind")
      #expect(
        try query.value(of: .maximum("label.size.height")) == 3
          && query.value(of: .sum("label.number")) == 6)
      #expect(try query.value(of: .maximum(\.label.weight)) == 1.5)
      #expect(try query.top(1, per: "label.kind", by: "-label.number").count() == 2)
      var request = query.request
      request.propertiesToFetch = ["label.kind AS kind", "sum(label.number) AS sum"]
      request.propertiesToGroupBy = ["label.kind"]
      #expect(try context.fetchRows(request).count == 2)
      #expect(try boxes[1].value(forKeyPath: "label.made") == .date(boxes[1].label.made))
      #expect(try boxes[1].value(forKeyPath: "outer.label.size") == .composite(["height": 0]))
      #expect(try boxes[1].value(forKeyPath: "spare.text") == .null)
      let results = try context.fetchedResults(query.order(by: "label.number").request)
      boxes[0].label.count = 9
      _ = try results.update()
      #expect(results.objects.last == boxes[0])
      #expect(try query.filter("label.number == 9").fetch() == [boxes[0]])
    }
  }

  @Test(
    "Parts that JSON doesn't describe are rejected",
    arguments: [
      ("label.txt == 'x'", "label has no part \"txt\". Did you mean text?"),
      (
        "label.text.length == 1",
        "\"length\" follows a string, which has no properties. Only objects and composites have "
          + "properties."
      ),
      (
        "label.text > 1",
        "> cannot compare a string with a number. Compare values of the same kind."
      ),
      ("label.size > 1", "> needs an order, but a composite has none. Compare with ==."),
      (
        "photo.x == 1",
        "Box.photo is a binary attribute, whose parts the model doesn't describe. Make it a "
          + "composite or JSON attribute, or a separate object."
      ),
    ])
  func whatJSONDoesNotTellIsAnError(_ text: String, _ message: String) throws {
    try use(1) { (context, _) throws in
      let error = try failure {
        _ = try context.objects(Box.self).filter(FetchPredicate(format: text)).fetch()
      }
      #expect(error.code == .invalidPredicate)
      #expect(error.message == message)
    }
  }

  @Test("Key paths of computed properties are rejected")
  func keyPathsThatComputeAreErrors() throws {
    try use(1) { (context, _) throws in
      let sort = try failure {
        _ = try context.objects(Box.self).order(by: \.label.text.count).fetch()
      }
      #expect(
        sort.code == .invalidPredicate
          && sort.message.contains(
            "doesn't consist of properties")
      )
    }
    let error = try failure {
      _ = try FetchPredicate(#Predicate<Box> { $0.label.kind.rawValue == "x" })
    }
    #expect(
      error.message
        == "The key path from Kind to String, which reads a part that the store doesn't know "
        + "(enumerations must be CaseIterable), in a #Predicate cannot be translated to a store "
        + "query. Rewrite it, or use a predicate string.")
  }

  /// A derivation can't read a part of a codable value, because programs that use the stored model
  /// don't have the type.
  @Test("A derivation can't read a part of a codable value")
  func derivationsDoNotReadParts() throws {
    var model = try ManagedObjectModel(for: [Box.self])
    model.entities[0].attributes.append(
      AttributeDescription(name: "city", type: .string, isOptional: true, derivation: "label.text"))
    let error = try failure { _ = try model.validated() }
    let message =
      "the expression reads a part of a JSON attribute, whose type programs without the class don't "
      + "know. Keep that part in a separate attribute."
    #expect(error.violations.map { $0.message.contains(message) } == [true])
  }

  @Test("Predicates in the store agree with Swift expressions on the decoded values")
  func storeAndSwiftAgree() throws {
    var random = SeededRandom()
    let texts = ["", "a", "é\n\"", "Zoë", "\u{1F600}\\", "a/b", "\u{1}"]
    try use(60) { (context, boxes) throws in
      for (index, box) in boxes.enumerated() {
        // Some boxes have pending changes.
        if index == 40 { try context.commit() }
        box.label.text = texts.randomElement(using: &random) ?? ""
        box.label.note = Bool.random(using: &random) ? texts.randomElement(using: &random) : nil
        box.label.weight = [0, -0.5, 1e300, 0.1, 1e-300].randomElement(using: &random) ?? 0
        box.label.price = Decimal(Int.random(in: -3...3, using: &random)) / 10
        box.label.made.addTimeInterval(Double.random(in: -2...2, using: &random))
        box.label.size.width =
          Bool.random(using: &random) ? Double.random(in: 0...1, using: &random) : nil
        box.spare = Bool.random(using: &random) ? boxes.randomElement(using: &random)?.label : nil
      }
      for probe in boxes.prefix(20) {
        let label = probe.label
        let (text, note, weight, price) = (label.text, label.note, label.weight, label.price)
        let (made, width) = (label.made, label.size.width)
        let cases: [Predicate<Box>] = [
          #Predicate { $0.label.text == text }, #Predicate { $0.label.text != text },
          #Predicate { $0.label.note == note }, #Predicate { $0.label.note != note },
          #Predicate { $0.label.weight <= weight }, #Predicate { $0.label.price > price },
          #Predicate { $0.label.made >= made }, #Predicate { $0.label.size.width == width },
          #Predicate { $0.spare?.text == text }, #Predicate { ($0.spare?.weight ?? 2) == weight },
          #Predicate { $0.label.note?.contains("a") == true },
        ]
        for (index, predicate) in cases.enumerated() {
          let found = try context.fetch(Box.self, matching: FetchPredicate(predicate))
          let expected = try boxes.filter { try predicate.evaluate($0) }
          #expect(Set(found) == Set(expected), "case \(index), seed \(random.seed)")
        }
      }
    }
  }
}
