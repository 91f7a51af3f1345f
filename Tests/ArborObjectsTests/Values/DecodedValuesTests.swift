import ArborLocks
import ArborModel
import ArborObjects
import Foundation
import TestSupport
import Testing

/// A value that counts how often it is decoded.
private struct Counted: Codable, Hashable {
  static let decodings = Lock(0)

  var text = ""

  init(text: String) { self.text = text }

  init(from decoder: any Decoder) throws {
    Self.decodings.withLock { $0 += 1 }
    text = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .text)
  }
}

/// A value whose copies share an object.
private struct Shared: Codable {
  final class Part: Codable {
    var text = ""
  }

  var part = Part()
}

private final class Page: ManagedObject {
  override class var entityDescription: EntityDescription {
    EntityDescription(
      name: "Page", className: "Page",
      attributes: [
        AttributeDescription("counted", Counted?.self),
        AttributeDescription("other", Counted?.self),
        AttributeDescription("shared", Shared.self, default: Shared()),
      ])
  }
  var counted: Counted? {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var other: Counted? {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var shared: Shared {
    get { _attribute(2) }
    set { _setAttribute(2, newValue) }
  }
}

@Suite("Decoded values of JSON attributes", .serialized) struct DecodedValuesTests {
  private func use(_ body: (ManagedObjectContext, PersistentStore) throws -> Void) throws {
    try ObjectStore.use(ManagedObjectModel(for: [Page.self]), classes: [Page.self]) { store in
      try body(store.makeContext(), store)
    }
  }

  /// Returns how often `body` decodes values.
  private func decodings(_ body: () throws -> Void) rethrows -> Int {
    let before = Counted.decodings.withLock { $0 }
    try body()
    return Counted.decodings.withLock { $0 } - before
  }

  @Test("A value is decoded once for each object and change")
  func decodesOnce() throws {
    try use { context, _ in
      let pages = (0..<3).map { number in
        let page = context.insert(Page.self)
        page.counted = Counted(text: "\(number)")
        return page
      }
      try context.commit()
      let reads = decodings {
        for _ in 0..<5 { for page in pages { _ = page.counted?.text } }
      }
      #expect(reads == 3)
      let changes = decodings {
        for number in 0..<4 {
          pages[0].counted = Counted(text: "new \(number)")
          for _ in 0..<5 { #expect(pages[0].counted?.text == "new \(number)") }
        }
      }
      // Setting a value may read the former one, to keep the parts that the type doesn't know.
      #expect(changes <= 8)
      context.rollback()
      #expect(pages[0].counted?.text == "0")
    }
  }

  @Test(
    "Values agree with plain ones after changes, rollbacks and merges",
    arguments: 1...20 as ClosedRange<UInt64>)
  func agreesWithPlainValues(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    try use { context, store in
      let other = store.makeContext()
      let page = context.insert(Page.self)
      try context.commit()
      let twin = try #require(try other.object(with: page.objectID) as? Page)
      var (committed, pending) = (
        [String?](repeating: nil, count: 2), [String?](repeating: nil, count: 2)
      )
      for _ in 0..<200 {
        let slot = Int.random(in: 0..<2, using: &random)
        let text = Bool.random(using: &random) ? nil : "\(Int.random(in: 0..<3, using: &random))"
        switch Int.random(in: 0..<6, using: &random) {
        case 0...2:
          let value = text.map(Counted.init(text:))
          if slot == 0 { page.counted = value } else { page.other = value }
          pending[slot] = text
        case 3:
          try context.commit()
          committed = pending
        case 4:
          context.rollback()
          pending = committed
        default:
          context.rollback()
          _ = try other.count("Page")
          let value = text.map(Counted.init(text:))
          if slot == 0 { twin.counted = value } else { twin.other = value }
          try other.commit()
          _ = try context.count("Page")
          committed[slot] = text
          pending = committed
        }
        #expect([page.counted?.text, page.other?.text] == pending, "seed \(seed)")
      }
    }
  }

  @Test("Instances of a class in a value belong to one reader")
  func instancesAreNotShared() throws {
    try use { context, _ in
      let page = context.insert(Page.self)
      page.shared.part.text = "lost"
      #expect(page.shared.part.text.isEmpty)
      let value = page.shared
      value.part.text = "kept"
      page.shared = value
      value.part.text = "other"
      #expect(page.shared.part.text == "kept")
    }
  }
}
